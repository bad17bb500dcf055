-- deploy: before
-- What the people who run it need: paused queues, totals, terms, the audit log, tokens.

-- Queues whose jobs are not claimed. Every claim looks here, so there is nothing else in it.
CREATE TABLE {schema}.paused_queues (
    queue text COLLATE "C" PRIMARY KEY,
    reason text NOT NULL,
    since timestamptz NOT NULL
);

-- How many jobs of each queue ended how that are not kept any more.
CREATE TABLE {schema}.forgotten_jobs (
    queue text COLLATE "C" PRIMARY KEY,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL
);

-- The last terms of each election.
CREATE TABLE {schema}.terms (
    election text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    node text NOT NULL,
    domain text NOT NULL,
    token bigint NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (election, epoch)
);

-- Who changed what.
CREATE TABLE {schema}.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL,
    actor text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    details text NOT NULL, -- JSON
    outcome text -- null: not known, or not yet
);

CREATE INDEX audit_by_age ON {schema}.audit (at, id);
CREATE INDEX audit_by_actor ON {schema}.audit (actor, id);
CREATE INDEX audit_by_action ON {schema}.audit (action, id);
CREATE INDEX audit_by_target ON {schema}.audit (target, id);

-- Who may use the HTTP API. The tokens themselves are kept by nobody.
CREATE TABLE {schema}.tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL UNIQUE, -- SHA-256, in hexadecimal digits
    scope text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz, -- null: never
    revoked_at timestamptz, -- null: it was not
    last_used_at timestamptz -- null: never
);

CREATE UNIQUE INDEX tokens_by_name ON {schema}.tokens (name) WHERE revoked_at IS NULL;

-- Claim no job of a queue any more. Each claim holds a weak lock on the table until it is committed:
-- when ours is granted, every claim that had not seen the pause is over, and later ones see it.
-- Nobody else is in the way of that lock, backups included.
CREATE FUNCTION {schema}.pause_1(
    name text, why text, at timestamptz, OUT because text, OUT first timestamptz
)
LANGUAGE plpgsql SET lock_timeout = '10s' AS $$
BEGIN
    LOCK TABLE {schema}.paused_queues IN EXCLUSIVE MODE;
    INSERT INTO {schema}.paused_queues AS p (queue, reason, since)
    VALUES (name, why, coalesce(at, clock_timestamp()))
    ON CONFLICT (queue) DO UPDATE SET reason = excluded.reason
    RETURNING p.reason, p.since INTO because, first;
END
$$;

-- Claim jobs of a queue again, and wake those who could; no row: it was not paused.
CREATE FUNCTION {schema}.resume_1(name text) RETURNS TABLE (because text, first timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY DELETE FROM {schema}.paused_queues AS p WHERE p.queue = name
        RETURNING p.reason, p.since;
    IF FOUND THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;

-- Turn a lease into an epoch, and keep its term, but no more terms of the election than so many.
CREATE FUNCTION {schema}.claim_fence_2(
    of_election text, of_domain text, new_token bigint, new_holder text, kept bigint,
    at timestamptz, OUT claimed boolean, OUT number bigint
)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT c.claimed, c.number INTO claimed, number
    FROM {schema}.claim_fence_1(of_election, of_domain, new_token, new_holder) AS c;
    IF claimed THEN
        INSERT INTO {schema}.terms (election, epoch, node, domain, token, since)
        VALUES (
            of_election, number, new_holder, of_domain, new_token, coalesce(at, clock_timestamp())
        )
        -- Of a fence that was reset by hand: no history is worth an election that stands still.
        ON CONFLICT (election, epoch) DO UPDATE SET node = excluded.node, domain = excluded.domain,
            token = excluded.token, since = excluded.since;
        DELETE FROM {schema}.terms AS t WHERE t.election = of_election AND t.epoch <= number - kept;
    END IF;
END
$$;
