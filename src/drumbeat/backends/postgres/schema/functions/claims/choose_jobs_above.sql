-- version: 1
-- Choose and lock jobs without limits above a mark in each lane and rank. As far as is known, the jobs
-- below were claimed before; this spares the claim their index entries until they are vacuumed.
CREATE OR REPLACE FUNCTION {schema}.choose_jobs_above(
    marks {schema}.claim_marks, wanted integer[], most integer
) RETURNS bigint[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    mark record;
    locked bigint[] := '{}';
    counts bigint[] := ARRAY[most];
BEGIN
    IF cardinality(marks.lanes) > 1 THEN
        counts := ARRAY(
            SELECT count(f.n) FROM generate_series(1, cardinality(marks.lanes)) AS g (n)
            LEFT JOIN (
                SELECT m.n
                FROM unnest(marks.lanes, marks.ranks, marks.run_ats, marks.ids)
                    WITH ORDINALITY AS m (lane, rank, run_at, id, n)
                CROSS JOIN LATERAL (
                    SELECT j.rank, j.run_at, j.id FROM {schema}.jobs AS j
                    WHERE j.limit_group = m.lane AND j.rank = m.rank AND j.status = 'queued'
                        AND (j.run_at, j.id) > (m.run_at, m.id)
                    ORDER BY j.run_at, j.id LIMIT most
                ) AS p
                WHERE m.lane = ANY (wanted)
                ORDER BY p.rank, p.run_at, p.id LIMIT most
            ) AS f ON f.n = g.n
            GROUP BY g.n ORDER BY g.n
        );
    END IF;
    FOR mark IN
        SELECT m.* FROM unnest(marks.lanes, marks.ranks, marks.run_ats, marks.ids, counts)
            AS m (lane, rank, run_at, id, jobs)
        WHERE m.jobs > 0 AND m.lane = ANY (wanted)
    LOOP
        locked := locked || ARRAY(
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.limit_group = mark.lane AND j.rank = mark.rank AND j.status = 'queued'
                AND (j.run_at, j.id) > (mark.run_at, mark.id)
            ORDER BY j.run_at, j.id LIMIT mark.jobs FOR UPDATE SKIP LOCKED
        );
    END LOOP;
    RETURN locked;
END
$$;
