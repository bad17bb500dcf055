-- A lane is a task in a queue. Lanes are few, and are never deleted.
CREATE TABLE {schema}.lanes (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    UNIQUE (queue, task)
);
