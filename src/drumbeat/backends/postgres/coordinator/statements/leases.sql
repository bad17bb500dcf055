-- name: acquire
-- A new term, if the name is vacant. Followers ask often, so a held name is only read and not locked.
-- The end and the token are computed after the wait for the row.
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
-- Extend this term, if it has not ended.
UPDATE {schema}.leases SET ends_at = clock_timestamp() + ttl
WHERE name = $1 AND holder = $2 AND token = $3 AND ends_at > clock_timestamp()
  AND $4::text = (SELECT domain FROM {schema}.coordinator)
RETURNING token;

-- name: release
-- End this term, if it has not ended, and notify waiters.
UPDATE {schema}.leases SET ends_at = '-infinity', written_at = clock_timestamp()
WHERE name = $1 AND holder = $2 AND token = $3 AND ends_at > clock_timestamp()
  AND $4::text = (SELECT domain FROM {schema}.coordinator)
RETURNING token, pg_notify({channels} || 'leases', '');

-- name: current
-- The term of a name, if it has not ended.
SELECT holder, token, ttl, domain FROM {schema}.leases, {schema}.coordinator
WHERE name = $1 AND ends_at > clock_timestamp();

-- name: vacancy
-- The last token of a name, which identifies the vacancy, and the rest of its term.
SELECT token,
       CASE WHEN ends_at > clock_timestamp() THEN ends_at - clock_timestamp() END AS remaining
FROM {schema}.leases WHERE name = $1;

-- name: forget_ended
-- Delete names that have been vacant for an hour; no statement can still use their rows.
DELETE FROM {schema}.leases
WHERE name IN (
    SELECT name FROM {schema}.leases
    WHERE ends_at < clock_timestamp() - interval '1 hour'
      AND written_at < clock_timestamp() - interval '1 hour'
    LIMIT 1000 FOR UPDATE SKIP LOCKED
);
