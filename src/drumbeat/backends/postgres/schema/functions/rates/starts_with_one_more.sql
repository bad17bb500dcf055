-- version: 1
-- Starts with one more at `moment`, without those that are outdated, and at most about 128 of them.
-- The rule is that of `drumbeat.rules.jobs.rate_window`, where the reasons are.
CREATE OR REPLACE FUNCTION {schema}.starts_with_one_more(
    INOUT times timestamptz[], INOUT counts integer[], INOUT kept_for bigint,
    per bigint, moment timestamptz
)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    outdated integer := 0;
    latest integer;
BEGIN
    kept_for := greatest(kept_for, per);
    IF times[cardinality(times)] >= moment THEN
        SELECT s.times, s.counts INTO times, counts
        FROM {schema}.starts_as_of(times, counts, moment) AS s;
    END IF;
    latest := cardinality(times);
    IF times[latest] = moment THEN
        counts[latest] := counts[latest] + 1;
    ELSE
        times := times || moment;
        counts := counts || 1;
        latest := latest + 1;
    END IF;
    WHILE times[outdated + 1] <= moment - kept_for * interval '1 microsecond' LOOP
        outdated := outdated + 1;
    END LOOP;
    IF outdated > 0 THEN
        times := times[outdated + 1 : latest];
        counts := counts[outdated + 1 : latest];
    END IF;
    IF cardinality(times) > 128 THEN
        -- Starts of the same 64th of a period become one, at the time of the last of them.
        SELECT array_agg(m.latest ORDER BY m.latest), array_agg(m.jobs ORDER BY m.latest)
        INTO times, counts
        FROM (
            SELECT max(e.started_at), sum(e.jobs)::integer
            FROM unnest(times, counts) AS t (started_at, jobs)
            CROSS JOIN LATERAL (
                SELECT t.started_at > moment - per * interval '1 microsecond',
                    (extract(epoch FROM t.started_at) * 1000000)::bigint
            ) AS n (recent, number)
            CROSS JOIN LATERAL (
                SELECT t.started_at, t.jobs, n.recent,
                    n.number / ((CASE WHEN n.recent THEN per ELSE kept_for END + 63) / 64)
            ) AS e (started_at, jobs, recent, part)
            GROUP BY e.recent, e.part
        ) AS m (latest, jobs);
    END IF;
END
$$;
