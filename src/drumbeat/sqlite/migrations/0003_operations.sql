-- What the people who run it need: paused queues, totals, terms, the audit log, tokens.

-- Queues whose jobs are not claimed.
CREATE TABLE paused_queues (
    queue TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many jobs of each queue ended how that are not kept any more.
CREATE TABLE forgotten_jobs (
    queue TEXT PRIMARY KEY,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last terms of each election.
CREATE TABLE terms (
    election TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    node TEXT NOT NULL,
    domain TEXT NOT NULL,
    token INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (election, epoch)
) STRICT, WITHOUT ROWID;

-- Who changed what. No number is given out twice.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL,
    details TEXT NOT NULL, -- JSON
    outcome TEXT -- null: not known, or not yet
) STRICT;

CREATE INDEX audit_by_age ON audit (at);
CREATE INDEX audit_by_actor ON audit (actor, id);
CREATE INDEX audit_by_action ON audit (action, id);
CREATE INDEX audit_by_target ON audit (target, id);

-- Who may use the HTTP API. The tokens themselves are kept by nobody.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE, -- SHA-256, in hexadecimal digits
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER, -- null: never
    revoked_at INTEGER, -- null: it was not
    last_used_at INTEGER -- null: never
) STRICT;

CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;
