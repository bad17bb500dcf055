-- version: 2
-- Apply each edit whose schedule still has the version and the cursor that it was read with. Returns
-- which were applied. `edits` is a JSON list in the order of the names, as
-- `drumbeat.backends.postgres.store.schedules.edit_batch` writes it: a null `version_before` means that
-- there was no such schedule, and a null `definition` that it is deleted.
CREATE OR REPLACE FUNCTION {schema}.put_schedules(edits text, at timestamptz) RETURNS boolean[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    edit record;
    stands boolean[] := '{}';
    applied boolean;
BEGIN
    FOR edit IN
        SELECT * FROM json_to_recordset(edits::json) AS e (
            name text, version_before bigint, cursor_before timestamptz, definition text,
            version bigint, cursor timestamptz, next_tick timestamptz, created_at timestamptz,
            updated_at timestamptz, origin text, declared text, paused boolean, pause_reason text,
            runs bigint, last_job bigint, skips timestamptz[], skipped json
        )
    LOOP
        IF edit.definition IS NULL THEN
            DELETE FROM {schema}.schedules AS s WHERE s.name = edit.name
                AND s.version = edit.version_before AND s.cursor = edit.cursor_before;
        ELSIF edit.version_before IS NULL THEN
            INSERT INTO {schema}.schedules (
                name, definition, version, cursor, next_tick, created_at, updated_at, origin,
                declared, paused, pause_reason, runs, last_job, skips
            ) VALUES (
                edit.name, edit.definition, edit.version, edit.cursor, edit.next_tick,
                edit.created_at, edit.updated_at, edit.origin, edit.declared, edit.paused,
                edit.pause_reason, edit.runs, edit.last_job, edit.skips
            ) ON CONFLICT DO NOTHING;
        ELSE
            UPDATE {schema}.schedules AS s SET
                definition = edit.definition, version = edit.version, cursor = edit.cursor,
                next_tick = edit.next_tick, created_at = edit.created_at,
                updated_at = edit.updated_at, origin = edit.origin, declared = edit.declared,
                paused = edit.paused, pause_reason = edit.pause_reason, runs = edit.runs,
                last_job = edit.last_job, skips = edit.skips
            WHERE s.name = edit.name
                AND s.version = edit.version_before AND s.cursor = edit.cursor_before;
        END IF;
        applied := FOUND;
        stands := stands || applied;
        IF applied AND edit.next_tick IS NOT NULL THEN
            -- Not only if it is the earliest: a leader may know those that come first already.
            PERFORM pg_notify({channels} || 'times', '');
        END IF;
        IF applied AND edit.skipped IS NOT NULL THEN
            -- The schedule is ours by now, however long that took: so only now is the clock read.
            INSERT INTO {schema}.ticks (
                schedule, tick_at, number, recorded_at, through, count, reason
            )
            SELECT edit.name, k.tick_at, nextval('{schema}.tick_numbers'),
                coalesce(at, clock_timestamp()), k.through, k.count, k.reason
            FROM json_to_recordset(edit.skipped) AS k (
                tick_at timestamptz, through timestamptz, count bigint, reason text
            );
        END IF;
    END LOOP;
    RETURN stands;
END
$$;
