-- name: acquire
-- A new term, unless there is one that lives. Followers ask often: what they find held, they find
-- by reading, and lock nothing. The end and the token are taken when the row is ours to write,
-- however long that took.
INSERT INTO {schema}.leases AS lease (name, holder, token, ttl, ends_at, written_at)
SELECT $1::text, $2::text, nextval('{schema}.lease_tokens'), $3::interval,
       clock_timestamp() + $3::interval, clock_timestamp()
WHERE NOT EXISTS (
    SELECT FROM {schema}.leases WHERE name = $1::text AND ends_at > clock_timestamp()
)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, token = nextval('{schema}.lease_tokens'), ttl = excluded.ttl,
    ends_at = clock_timestamp() + excluded.ttl, written_at = clock_timestamp()
WHERE lease.ends_at <= clock_timestamp()
RETURNING token, (SELECT domain FROM {schema}.coordinator) AS domain,
          pg_notify({channels} || 'leases', '');

-- name: renew
-- Lengthen this very term, if it lives.
UPDATE {schema}.leases SET ends_at = clock_timestamp() + ttl
WHERE name = $1 AND holder = $2 AND token = $3 AND ends_at > clock_timestamp()
  AND $4::text = (SELECT domain FROM {schema}.coordinator)
RETURNING token;

-- name: release
-- End this very term, if it lives, and tell those who wait.
UPDATE {schema}.leases SET ends_at = '-infinity', written_at = clock_timestamp()
WHERE name = $1 AND holder = $2 AND token = $3 AND ends_at > clock_timestamp()
  AND $4::text = (SELECT domain FROM {schema}.coordinator)
RETURNING token, pg_notify({channels} || 'leases', '');

-- name: current
-- The term of a name, if it lives.
SELECT holder, token, ttl, domain FROM {schema}.leases, {schema}.coordinator
WHERE name = $1 AND ends_at > clock_timestamp();

-- name: vacancy
-- The last token of a name, which tells one vacancy from the next, and what is left of its term.
SELECT token,
       CASE WHEN ends_at > clock_timestamp() THEN ends_at - clock_timestamp() END AS remaining
FROM {schema}.leases WHERE name = $1;

-- name: forget_ended
-- Names that were vacant for so long that nobody may ever ask for them again, and that no statement
-- can still be busy with.
DELETE FROM {schema}.leases
WHERE name IN (
    SELECT name FROM {schema}.leases
    WHERE ends_at < clock_timestamp() - interval '1 hour'
      AND written_at < clock_timestamp() - interval '1 hour'
    LIMIT 1000 FOR UPDATE SKIP LOCKED
);
