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
