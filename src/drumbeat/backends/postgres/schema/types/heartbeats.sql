-- The attempts that a node holds.
CREATE TYPE {schema}.node_holds AS (
    jobs bigint[],
    fences integer[]
);

-- The progress of some of them, as JSON.
CREATE TYPE {schema}.node_progress AS (
    jobs bigint[],
    fences integer[],
    progress text[]
);
