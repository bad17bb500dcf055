"""`drumbeat schedule`, against a store in memory."""

from __future__ import annotations

import pytest

from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import OnConflictName, Wanted

from .support import Terminal

SHAPE = {
    "name",
    "task",
    "when",
    "trigger",
    "paused",
    "pause_reason",
    "next_tick",
    "cursor",
    "runs",
    "last_job",
    "skips",
    "queue",
    "arguments",
    "policies",
    "origin",
    "version",
    "description",
    "created_at",
    "updated_at",
    "declared",
    "undeclared",
    "priority",
    "timeout",
    "tags",
    "expires",
    "retry",
}
TICK = {
    "schedule",
    "tick_at",
    "through",
    "count",
    "outcome",
    "reason",
    "job_id",
    "leader",
    "epoch",
    "lateness_seconds",
    "recorded_at",
    "backfilled",
}


@pytest.fixture
def beating(terminal: Terminal) -> Terminal:
    """A terminal with a schedule that ticks every minute."""
    answer = terminal("schedule", "create", "beat", "--task", "greet", "--every", "1m")
    assert answer.code == 0, answer.err
    return terminal


def test_an_empty_store_has_no_schedules(terminal: Terminal) -> None:
    assert terminal("schedule", "list").out == "There are no schedules.\n"
    assert terminal("schedule", "list", "-o", "json").data == []


def test_a_schedule_is_created_listed_and_shown(beating: Terminal) -> None:
    assert beating("schedule", "list").out.splitlines() == [
        "schedule  state   next tick (UTC)       next  runs  when",
        "beat      active  2030-01-01 00:01:00  in 1m     0  Every minute",
    ]
    (listed,) = beating("schedule", "list", "-o", "json").data
    shown = beating("-o", "json", "schedule", "show", "beat").data
    assert set(listed) == SHAPE
    assert shown == {**listed, "ticks": []}
    assert (shown["next_tick"], shown["origin"]) == ("2030-01-01T00:01:00Z", "person")


@pytest.mark.parametrize(
    ("options", "when"),
    [
        (("--cron", "0 2 * * *", "--tz", "Europe/Paris"), "At 02:00 every day (Europe/Paris)"),
        (("--every", "90s"), "Every 1 minute 30 seconds"),
        (("--daily", "09:00,17:30"), "At 09:00 and 17:30 every day (UTC)"),
        (("--weekly", "mon,fri 09:00"), "At 09:00"),
        (("--monthly", "1,-1 00:00"), "At 00:00"),
        (("--once", "+2h"), "2030-01-01 02:00"),
    ],
)
def test_every_kind_of_trigger_can_be_created(
    terminal: Terminal, options: tuple[str, ...], when: str
) -> None:
    answer = terminal("schedule", "create", "x", "--task", "greet", *options, "-o", "json")
    assert answer.code == 0, answer.err
    assert when in answer.data["when"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "say when it runs, by exactly one of --cron, --every"),
        (("--every", "1m", "--cron", "* * * * *"), "by exactly one of"),
        (("--cron", "61 * * * *"), "minute: '61' is out of range"),
        (("--every", "soon"), "'soon' is not a duration"),
        (("--every", "1m", "--arg", "x"), "'x' is not an argument; write NAME=VALUE"),
        (("--every", "1m", "--end-at", "tomorrow"), "'tomorrow' is not a time; allowed:"),
        (("--weekly", "mon"), "--weekly needs days and times"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(
    terminal: Terminal, options: tuple[str, ...], sentence: str
) -> None:
    answer = terminal("schedule", "create", "x", "--task", "nobody", *options)
    assert answer.code == 2
    assert answer.err.startswith("Error: ")
    assert sentence in answer.err
    assert answer.out == ""


def test_a_name_that_is_taken_is_a_conflict_unless_it_is_replaced(beating: Terminal) -> None:
    again = ("schedule", "create", "beat", "--task", "greet", "--every", "5m")
    assert beating(*again).code == 4
    assert beating(*again, "--replace", "-o", "json").data["version"] == 2
    assert "schedule beat was replaced" in beating(*again, "--replace").out


def test_a_task_that_is_known_has_its_arguments_checked(terminal: Terminal) -> None:
    create = ("schedule", "create", "x", "--task", "greet", "--every", "1m")
    assert terminal(*create, "--arg", "nome=Anna").code == 2
    assert terminal(*create, "--arg", "name=Anna", "-o", "json").data["arguments"] == {
        "name": "Anna"
    }


def test_a_schedule_is_paused_with_a_reason_and_resumed(beating: Terminal) -> None:
    paused = beating("schedule", "pause", "beat", "--reason", "full disk", "-o", "json").data
    assert (paused["paused"], paused["pause_reason"]) == (True, "full disk")
    assert "paused, full disk" in beating("schedule", "show", "beat").out
    assert beating("schedule", "resume", "beat", "-o", "json").data["paused"] is False


def test_the_next_tick_is_skipped_and_taken_back(beating: Terminal) -> None:
    first = "2030-01-01T00:01:00Z"
    assert beating("schedule", "skip", "beat", "-o", "json").data["skips"] == [first]
    assert beating("schedule", "preview", "beat", "-o", "json").data["next"][0] != first
    assert beating("schedule", "skip", "beat", "--undo", "-o", "json").data["skips"] == []


def test_a_tick_that_does_not_exist_cannot_be_skipped(beating: Terminal) -> None:
    answer = beating("schedule", "skip", "beat", "2030-01-01 00:01:30")
    assert answer.code == 2
    assert "00:01" in answer.err


def test_a_schedule_is_triggered_besides_its_ticks(beating: Terminal) -> None:
    job = beating("schedule", "trigger", "beat", "-o", "json").data
    assert (job["task"], job["schedule"], job["status"]) == ("greet", "beat", "queued")


def test_past_ticks_are_backfilled_once(beating: Terminal) -> None:
    beating("schedule", "pause", "beat")
    beating.tick("3m")
    fill = ("schedule", "backfill", "beat", "--from", "2030-01-01 00:00:30", "-o", "json")
    assert [row["outcome"] for row in beating(*fill, "--dry-run").data] == ["would fire"] * 3
    assert [row["outcome"] for row in beating(*fill).data] == ["fired"] * 3
    assert [row["outcome"] for row in beating(*fill).data] == ["had fired before"] * 3


def test_a_dry_run_of_a_backfill_tells_what_fired_from_what_would(beating: Terminal) -> None:
    beating.tick("1m")
    beating("schedule", "pause", "beat")
    beating.tick("2m")
    answer = beating("schedule", "backfill", "beat", "--from", "-150s", "--dry-run")
    assert [line.split("  ")[1] for line in answer.out.splitlines()[1:4]] == [
        "had fired before",
        "would fire",
        "would fire",
    ]
    assert "3 ticks, 2 would fire" in answer.out


def test_a_schedule_is_deleted(beating: Terminal) -> None:
    assert beating("schedule", "delete", "beat", "-o", "json").data == {
        "name": "beat",
        "deleted": True,
    }
    assert beating("schedule", "show", "beat").code == 3


@pytest.mark.parametrize(
    "verb", ["show", "preview", "explain", "pause", "resume", "trigger", "skip", "delete"]
)
def test_an_unknown_name_is_one_sentence_and_exit_code_3(terminal: Terminal, verb: str) -> None:
    answer = terminal("schedule", verb, "gone")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err == "Error: no schedule is named 'gone'\n"


def test_an_explanation_tells_what_became_of_each_tick(beating: Terminal) -> None:
    beating.tick("1m")
    beating.tick("1m")
    beating("schedule", "pause", "beat", "--reason", "maintenance")
    beating.tick("2m")
    answer = beating("schedule", "explain", "beat")
    assert answer.code == 0, answer.err
    for words in (
        "beat runs greet: every minute.",
        "It is paused (maintenance)",
        "Nobody leads, so no tick fires",
        "No live worker serves the queue 'default'",
        "fired 0ms late as job 1, epoch",
        "skipped: the job of the tick before was still unfinished",
        "2 ticks through 2030-01-01 00:04:00 UTC skipped, each because the schedule was paused",
    ):
        assert words in answer.out
    data = beating("schedule", "explain", "beat", "-o", "json").data
    assert set(data) == {"name", "explanation", "paused", "next", "previous_job", "ticks"}
    assert {*TICK, "explanation"} == set(data["ticks"][0])


@pytest.mark.parametrize(
    ("on_conflict", "says"),
    [
        ("cancel", "; the job was cancelled: its limit was reached when its turn came "),
        ("skip", "; the job was skipped: its limit was reached "),
    ],
)
def test_an_explanation_says_that_a_job_found_its_exclusive_name_taken(
    terminal: Terminal, on_conflict: OnConflictName, says: str
) -> None:
    @terminal.app.task(exclusive="update-models", on_conflict=on_conflict)
    async def update() -> None: ...

    async def hold() -> None:
        job = await update.submit()
        wanted = Wanted(("default",), frozenset({"update"}), 1)
        taken = await terminal.app.store.jobs.take(wanted, NodeId("other:1"))
        assert [attempt.job_id for attempt in taken.attempts] == [job.id]

    terminal.do(hold())
    assert terminal("schedule", "create", "sync", "--task", "update", "--every", "1m").code == 0
    terminal.tick("1m")
    terminal.drain()
    answer = terminal("schedule", "explain", "sync", columns=200)
    assert "as job 2, epoch" in answer.out
    assert says + "(exclusive:update-models)" in answer.out
    found = terminal("job", "list", "--skipped", "-o", "json").data
    assert [job["id"] for job in found] == ([2] if on_conflict == "skip" else [])


def test_an_explanation_says_that_a_job_failed_and_why(terminal: Terminal) -> None:
    assert terminal("schedule", "create", "sync", "--task", "fail", "--every", "1m").code == 0
    terminal.tick("1m")
    terminal.drain()
    answer = terminal("schedule", "explain", "sync", columns=200)
    assert "; the job failed: ValueError: no such customer" in answer.out


def test_an_explanation_says_what_a_job_waits_for(beating: Terminal) -> None:
    def explained() -> str:
        return beating("schedule", "explain", "beat", columns=300).out

    beating.tick("1m")
    beating.start_a_node()
    beating.do(beating.clock.advance("10s"))
    assert "It has waited" not in explained()
    beating.start_a_node(busy=100)
    beating.do(beating.clock.advance("10s"))
    assert "It has waited for 20s: every worker of its queue is busy." in explained()
    beating.start_a_node()
    told = "It has waited for 20s: workers of its queue have room, so it may be that none of "
    perhaps = "that a limit holds it up, or that none has a free process for it."
    assert f"{told}them knows the task 'greet', {perhaps}" in explained()
    beating("queue", "pause", "default", "--reason", "too much")
    assert "The queue 'default' is paused (too much), so its jobs wait." in explained()
    assert "It has waited" not in explained()


def test_an_overdue_tick_is_said_to_be_overdue(beating: Terminal) -> None:
    beating.do(beating.clock.advance("1h"))
    assert "is overdue by 59m" in beating("schedule", "explain", "beat").out


@pytest.mark.parametrize("columns", [80, 120])
def test_a_table_fits_the_terminal_and_never_cuts_the_name(beating: Terminal, columns: int) -> None:
    name = "a-schedule-with-a-rather-long-name"
    when = "0 9 * * mon-fri"
    beating("schedule", "create", name, "--task", "greet", "--cron", when, "--tz", "Europe/Paris")
    lines = beating("schedule", "list", columns=columns).out.splitlines()
    assert all(len(line) <= columns for line in lines)
    assert any(line.startswith(name) for line in lines)


def test_a_preview_notes_what_the_clock_does_to_a_tick(terminal: Terminal) -> None:
    zone = ("--tz", "Europe/Paris")
    terminal("schedule", "create", "gap", "--task", "greet", "--cron", "30 2 31 3 *", *zone)
    told = "02:30 does not exist: runs at 03:00 instead"
    assert told in terminal("schedule", "preview", "gap", "--count", "1").out
    data = terminal("schedule", "preview", "gap", "-o", "json").data
    assert (data["tz"], data["next"][0]) == ("Europe/Paris", "2030-03-31T01:00:00Z")
    assert data["ticks"][0]["local"] == "2030-03-31T03:00:00+02:00"
    assert told in data["ticks"][0]["note"]
    assert "note" not in terminal("schedule", "preview", "nightly", "--count", "1").out
