-- version: 1
-- What `insert_jobs` does, within a caller's own transaction and by any driver: `specs` is a JSON
-- list, as `drumbeat.backends.postgres.store.jobs.caller_insertion` writes it. Each row is a JSON
-- object with the id of the new job, or with the whole job that stands for its dedupe key.
CREATE OR REPLACE FUNCTION {schema}.submit_jobs(specs text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    jobs {schema}.new_jobs;
    made record;
BEGIN
    SELECT
        count(*), array_agg(s.queue ORDER BY n), array_agg(s.task ORDER BY n),
        array_agg(s.rank ORDER BY n), array_agg(s.options ORDER BY n),
        array_agg(s.limits ORDER BY n), array_agg(n::integer ORDER BY n),
        array_agg(decode(s.arguments, 'base64') ORDER BY n),
        array_agg(s.dedupe_key ORDER BY n), array_agg(s.schedule ORDER BY n),
        array_agg(s.tick ORDER BY n), array_agg(s.tags ORDER BY n)
    INTO jobs
    FROM json_array_elements(specs::json) WITH ORDINALITY AS e (value, n),
        json_to_record(e.value) AS s (
            queue text, task text, rank smallint, options text, limits text, arguments text,
            dedupe_key text, schedule text, tick timestamptz, tags text
        );
    SELECT i.* INTO made FROM {schema}.insert_jobs(jobs, NULL) AS i;
    RETURN QUERY
        SELECT json_build_object('moment', made.moment, 'id', u.id, 'standing', (
            SELECT row_to_json(d) FROM (
                SELECT j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at, j.created_at,
                    encode(j.arguments, 'base64') AS arguments, j.options, j.limits, j.tags,
                    j.schedule, j.tick_at, j.status, j.node, j.started_at,
                    NULL::timestamptz AS finished_at, NULL AS result, j.error, j.progress,
                    j.cancel_requested, l.queue, l.task
                FROM {schema}.jobs AS j JOIN {schema}.lanes AS l ON l.id = j.lane
                WHERE j.id = u.standing
                UNION ALL
                SELECT j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at, j.created_at,
                    encode(j.arguments, 'base64'), j.options, j.limits, j.tags, j.schedule,
                    j.tick_at, j.status, j.node, j.started_at, j.finished_at,
                    encode(j.result, 'base64'), j.error, j.progress, j.cancel_requested, l.queue,
                    l.task
                FROM {schema}.archive AS j JOIN {schema}.lanes AS l ON l.id = j.lane
                WHERE j.id = u.standing
            ) AS d
        ))::text
        FROM unnest(made.ids, made.standing) WITH ORDINALITY AS u (id, standing, n) ORDER BY u.n;
END
$$;
