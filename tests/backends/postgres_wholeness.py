"""Whether a namespace of PostgreSQL is whole: whatever is kept twice says the same."""

from __future__ import annotations

import psycopg

EMPTIED = (
    *("jobs", "archive", "attempts", "tallies", "limit_group_arrivals", "limit_groups"),
    *("limit_usage", "rate_openings", "rate_starts", "schedules", "ticks", "nodes", "fence"),
    *("fence_tokens", "paused_queues", "forgotten_jobs", "terms", "audit", "tokens"),
)

FAULTS = {
    "the tallies are what the jobs add up to": """
        WITH told AS (
            SELECT t.lane, s.status, sum(s.jobs) AS jobs
            FROM {0}.tallies AS t, LATERAL (VALUES
                ('pending', t.pending), ('queued', t.queued), ('running', t.running),
                ('completed', t.completed), ('failed', t.failed), ('cancelled', t.cancelled)
            ) AS s (status, jobs)
            GROUP BY t.lane, s.status HAVING sum(s.jobs) <> 0
        ), counted AS (
            SELECT lane, status, count(*) AS jobs FROM (
                SELECT lane, status FROM {0}.jobs UNION ALL SELECT lane, status FROM {0}.archive
            ) AS j GROUP BY lane, status
        )
        SELECT * FROM told FULL JOIN counted USING (lane, status)
        WHERE told.jobs IS DISTINCT FROM counted.jobs
    """,
    "the tags of finished jobs are found, and no others": """
        SELECT * FROM (
            SELECT DISTINCT left(t.tag, 100) AS tag, a.status, a.id
            FROM {0}.archive AS a, unnest(a.tags) AS t (tag)
        ) AS has FULL JOIN {0}.archive_tags AS told USING (tag, status, id)
        WHERE has.id IS NULL OR told.id IS NULL
    """,
    "a job is in one place": """
        SELECT id FROM {0}.jobs JOIN {0}.archive USING (id)
    """,
    "a running job has a node and a start, and no other has": """
        SELECT id FROM {0}.jobs
        WHERE (status = 'running') <> (node IS NOT NULL)
            OR (status = 'running') <> (started_at IS NOT NULL)
    """,
    "a limit group with queued jobs is known or has arrived, at its first job or before": """
        SELECT j.limit_group, j.id FROM {0}.jobs AS j
        WHERE j.status = 'queued' AND j.limits IS NOT NULL AND NOT EXISTS (
            SELECT FROM (
                SELECT id AS limit_group, rank, run_at, job FROM {0}.limit_groups
                UNION ALL SELECT limit_group, rank, run_at, job FROM {0}.limit_group_arrivals
            ) AS g
            WHERE g.limit_group = j.limit_group
                AND (g.rank, g.run_at, g.job) <= (j.rank, j.run_at, j.id)
        )
    """,
    "the usage of each limit is what runs under its key": """
        WITH counted AS (
            SELECT l ->> 0 AS key, count(*) AS running
            FROM {0}.jobs AS j, json_array_elements(j.limits::json -> 0) AS l
            WHERE j.status = 'running' AND j.limits IS NOT NULL GROUP BY 1
        )
        SELECT * FROM {0}.limit_usage AS h FULL JOIN counted AS c USING (key)
        WHERE h.running IS DISTINCT FROM c.running
    """,
    "while a limit has room, each lane with groups that wait for it has one of them open": """
        SELECT g.id FROM {0}.limit_groups AS g
        LEFT JOIN {0}.limit_usage AS u ON 'limit:' || u.key = g.waits_for
        WHERE g.waits_for LIKE 'limit:%' AND coalesce(u.running, 0) < g.at_most AND NOT EXISTS (
            SELECT FROM {0}.limit_groups AS o
            WHERE o.lane = g.lane AND o.waits_for IS NULL
                AND substr(g.waits_for, 7) = ANY (o.limit_keys)
        )
    """,
    "a group that waits for a rate is looked at again": """
        SELECT g.id FROM {0}.limit_groups AS g
        WHERE g.waits_for LIKE 'rate:%' AND NOT EXISTS (
            SELECT FROM {0}.rate_openings AS o WHERE o.lane = g.lane AND o.rate = g.waits_for
        ) AND NOT EXISTS (
            SELECT FROM {0}.limit_groups AS o
            WHERE o.lane = g.lane AND o.waits_for IS NULL AND o.rate = g.rate
        )
    """,
    "a tick that fired has its job in the ledger once": """
        SELECT schedule, tick_at FROM {0}.ticks WHERE reason IS NULL
        GROUP BY schedule, tick_at HAVING count(*) > 1
    """,
}


def check_whole(address: str, namespace: str) -> None:
    """Every rule holds."""
    with psycopg.connect(address, autocommit=True) as connection:
        for rule, question in FAULTS.items():
            text = question.replace("{0}", f'"{namespace}"')
            found = connection.execute(text.encode()).fetchall()
            assert not found, f"{rule}: {found[:5]}"


def empty(address: str, namespace: str) -> None:
    """As new, but for the lanes: a new namespace takes longer."""
    with psycopg.connect(address, autocommit=True) as connection:
        deletes = "; ".join(f'DELETE FROM "{namespace}".{table}' for table in EMPTIED)
        connection.execute(f"BEGIN; {deletes}; COMMIT".encode())
        connection.execute(f'ALTER SEQUENCE "{namespace}".job_ids RESTART'.encode())
