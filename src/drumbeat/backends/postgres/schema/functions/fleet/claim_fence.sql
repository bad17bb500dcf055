-- version: 1
-- Turn a lease into an epoch, if its token is above all that were seen of its domain, and keep its
-- term among the last so many of the election. Returns the new epoch, or the one that stands.
CREATE OR REPLACE FUNCTION {schema}.claim_fence(
    of_election text, of_domain text, new_token bigint, new_holder text, terms_kept bigint,
    at timestamptz, OUT claimed boolean, OUT number bigint
)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.fence_tokens AS t (election, domain, token)
    VALUES (of_election, of_domain, new_token)
    ON CONFLICT (election, domain) DO UPDATE SET token = excluded.token
    WHERE t.token < excluded.token;
    claimed := FOUND;
    IF NOT claimed THEN
        SELECT f.epoch INTO number FROM {schema}.fence AS f WHERE f.election = of_election;
        number := coalesce(number, 0);
        RETURN;
    END IF;
    INSERT INTO {schema}.fence AS f (election, epoch, domain, token, holder)
    VALUES (of_election, 1, of_domain, new_token, new_holder)
    ON CONFLICT (election) DO UPDATE SET epoch = f.epoch + 1, domain = excluded.domain,
        token = excluded.token, holder = excluded.holder
    RETURNING f.epoch INTO number;
    INSERT INTO {schema}.terms (election, epoch, node, domain, token, since)
    VALUES (
        of_election, number, new_holder, of_domain, new_token, coalesce(at, clock_timestamp())
    )
    -- Of a fence that was reset by hand: its history must not stop an election.
    ON CONFLICT (election, epoch) DO UPDATE SET node = excluded.node, domain = excluded.domain,
        token = excluded.token, since = excluded.since;
    DELETE FROM {schema}.terms AS t
    WHERE t.election = of_election AND t.epoch <= number - terms_kept;
END
$$;
