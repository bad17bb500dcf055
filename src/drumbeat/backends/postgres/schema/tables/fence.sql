-- Who may write as the leader of an election.
CREATE TABLE {schema}.fence (
    election text COLLATE "C" PRIMARY KEY,
    epoch bigint NOT NULL,
    domain text NOT NULL,
    token bigint NOT NULL,
    holder text NOT NULL
);

-- The highest token that was seen of each domain.
CREATE TABLE {schema}.fence_tokens (
    election text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    PRIMARY KEY (election, domain)
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
