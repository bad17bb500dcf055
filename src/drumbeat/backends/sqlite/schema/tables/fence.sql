-- Who may write as a leader.
CREATE TABLE fence (
    election TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    domain TEXT NOT NULL,
    token INTEGER NOT NULL,
    holder TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The highest token that was seen of each domain.
CREATE TABLE fence_tokens (
    election TEXT NOT NULL,
    domain TEXT NOT NULL,
    token INTEGER NOT NULL,
    PRIMARY KEY (election, domain)
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
