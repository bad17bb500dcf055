-- Ended attempts, except those that completed their job: the archived job itself records these.
CREATE TABLE {schema}.attempts (
    job bigint NOT NULL,
    fence integer NOT NULL,
    number integer NOT NULL,
    node text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    change text NOT NULL,
    error text,
    PRIMARY KEY (job, fence)
);
