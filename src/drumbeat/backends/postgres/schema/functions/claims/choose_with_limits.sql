-- version: 3
-- Choose jobs of lanes in which limit groups are open: these groups and the jobs without limits are
-- taken in one order, the best first. The caller has the lock of limits.
--
-- Jobs with limits are started here, or cancelled if a limit says so, or if they have expired: then
-- their ids are negated. Of the jobs without limits only
-- the lanes are returned, one for each job to claim, since other claims may take them meanwhile.
-- `chosen` is the order of all; `again` says that it is worth to ask again at once.
CREATE OR REPLACE FUNCTION {schema}.choose_with_limits(
    wanted integer[], request {schema}.claim_request, moment timestamptz,
    OUT chosen bigint[], OUT started bigint[], OUT cancelled bigint[], OUT lanes bigint[],
    OUT again boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    most integer := request.at_once + request.ahead;
    plain_lanes bigint[];
    plain_ranks smallint[];
    plain_times timestamptz[];
    plain_ids bigint[];
    next_plain integer := 1;
    best {schema}.limit_groups;
    job record;
    judged record;
    verdict text;
BEGIN
    chosen := '{}';
    started := '{}';
    cancelled := '{}';
    lanes := '{}';
    again := false;
    SELECT array_agg(p.lane), array_agg(p.rank), array_agg(p.run_at), array_agg(p.id)
    INTO plain_lanes, plain_ranks, plain_times, plain_ids
    FROM {schema}.first_jobs(wanted, most) AS p;
    WHILE cardinality(chosen) < most LOOP
        SELECT g.* INTO best FROM {schema}.limit_groups AS g
        WHERE g.waits_for IS NULL AND g.lane = ANY (wanted)
        ORDER BY g.rank, g.run_at, g.job LIMIT 1;
        IF next_plain <= cardinality(plain_ids) AND (
            best.id IS NULL
            OR (plain_ranks[next_plain], plain_times[next_plain], plain_ids[next_plain])
                < (best.rank, best.run_at, best.job)
        ) THEN
            chosen := chosen || plain_ids[next_plain];
            lanes := lanes || plain_lanes[next_plain];
            next_plain := next_plain + 1;
            CONTINUE;
        END IF;
        -- A job with limits may start, but is never held ahead.
        EXIT WHEN best.id IS NULL OR cardinality(chosen) >= request.at_once;
        IF cardinality(cancelled) >= 1000 THEN
            again := true;
            EXIT;
        END IF;
        SELECT j.id, j.rank, j.run_at, j.lane, j.expires_at, j.limits, j.attempt
        INTO job FROM {schema}.jobs AS j
        WHERE j.limit_group = best.id AND j.status = 'queued'
        ORDER BY j.rank, j.run_at, j.id LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF job.id IS NULL THEN
            -- The group is empty, or another transaction has its last job locked: that one arrives
            -- again, in case it stays queued.
            INSERT INTO {schema}.limit_group_arrivals (limit_group, lane, limits, rank, run_at, job)
            SELECT j.limit_group, j.lane, j.limits, j.rank, j.run_at, j.id FROM {schema}.jobs AS j
            WHERE j.limit_group = best.id AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT 1;
            again := again OR FOUND;
            DELETE FROM {schema}.limit_groups WHERE id = best.id;
            PERFORM {schema}.open_groups_beside(best, moment);
            CONTINUE;
        END IF;
        IF job.id <> best.job OR job.run_at <> best.run_at THEN
            -- The first job has left: judge the group by the next one, when that is the best.
            UPDATE {schema}.limit_groups SET rank = job.rank, run_at = job.run_at, job = job.id
            WHERE id = best.id;
            CONTINUE WHEN (job.rank, job.run_at, job.id) > (best.rank, best.run_at, best.job);
        END IF;
        IF job.expires_at <= moment THEN
            verdict := 'expired';
        ELSE
            SELECT * INTO judged FROM {schema}.judge_group(best, moment);
            verdict := judged.verdict;
        END IF;
        IF verdict = 'wait' THEN
            UPDATE {schema}.limit_groups
            SET waits_for = judged.waits_for, at_most = judged.at_most WHERE id = best.id;
            IF judged.opens_at IS NOT NULL THEN
                INSERT INTO {schema}.rate_openings (lane, rate, rate_per, opens_at)
                VALUES (best.lane, best.rate, best.rate_per, judged.opens_at)
                ON CONFLICT DO NOTHING;
            END IF;
        ELSE
            IF verdict = 'start' THEN
                UPDATE {schema}.jobs AS j SET status = 'running', node = request.holder,
                    progress = NULL, fence = j.fence + 1, attempt = j.attempt + 1,
                    started_at = moment
                WHERE j.id = job.id;
                PERFORM {schema}.count_start(best, moment);
                INSERT INTO {schema}.tallies (lane, queued, running) VALUES (job.lane, -1, 1);
                chosen := chosen || job.id;
                started := started || job.id;
            ELSIF verdict = 'expired' THEN
                PERFORM {schema}.end_expired(ARRAY[job.id], moment);
                cancelled := cancelled || -job.id;
            ELSE
                PERFORM {schema}.archive_job(
                    job.id, 'cancelled', {schema}.reason_at_limits(job.limits, job.attempt), NULL,
                    moment
                );
                INSERT INTO {schema}.tallies (lane, queued, cancelled) VALUES (job.lane, -1, 1);
                PERFORM pg_notify({channels} || 'finished', '');
                cancelled := cancelled || job.id;
            END IF;
            SELECT j.id, j.rank, j.run_at INTO job FROM {schema}.jobs AS j
            WHERE j.limit_group = best.id AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT 1;
            IF job.id IS NULL THEN
                DELETE FROM {schema}.limit_groups WHERE id = best.id;
            ELSE
                UPDATE {schema}.limit_groups SET rank = job.rank, run_at = job.run_at, job = job.id
                WHERE id = best.id;
            END IF;
        END IF;
        PERFORM {schema}.open_groups_beside(best, moment);
    END LOOP;
END
$$;
