-- name: get
-- The value of a key and the number of its last write.
SELECT value, revision FROM {schema}.configuration WHERE key = $1 AND value IS NOT NULL;

-- name: put
-- Write a value unconditionally.
INSERT INTO {schema}.configuration AS entry (key, value, revision)
VALUES ($1, $2, nextval('{schema}.configuration_revisions'))
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, revision = nextval('{schema}.configuration_revisions')
RETURNING revision, pg_notify({channels} || 'configuration', '');

-- name: create
-- A value for a key that does not exist, or was deleted.
INSERT INTO {schema}.configuration AS entry (key, value, revision)
VALUES ($1, $2, nextval('{schema}.configuration_revisions'))
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, revision = nextval('{schema}.configuration_revisions')
WHERE entry.value IS NULL
RETURNING revision, pg_notify({channels} || 'configuration', '');

-- name: replace
-- Another value for a key that is still at the revision; NULL deletes it.
UPDATE {schema}.configuration
SET value = $2, revision = nextval('{schema}.configuration_revisions')
WHERE key = $1 AND revision = $3 AND value IS NOT NULL
RETURNING revision, pg_notify({channels} || 'configuration', '');
