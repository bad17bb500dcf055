"""`drumbeat job` and `drumbeat queue`, against a store in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat import Retry
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.jobs.retry import DEFAULT_RETRY, Strategy

from .support import Terminal

SHAPE = {
    "id",
    "task",
    "status",
    "queue",
    "priority",
    "arguments",
    "attempt",
    "created_at",
    "run_at",
    "started_at",
    "finished_at",
    "node",
    "schedule",
    "tick_at",
    "dedupe_key",
    "dedupe_scope",
    "tags",
    "expires_at",
    "expired",
    "skipped",
    "result",
    "error",
    "cancel_requested",
    "progress",
    "fence",
    "completed_at",
    "worker_id",
}


@pytest.fixture
def busy(terminal: Terminal) -> Terminal:
    """A terminal with one completed job, one failed and one pending."""
    terminal("job", "submit", "greet", "name=Anna")
    terminal("job", "submit", "fail")
    terminal.drain()
    terminal("job", "submit", "greet", "--delay", "1h")
    return terminal


def test_a_job_is_submitted_with_its_arguments_and_options(terminal: Terminal) -> None:
    options = ("--priority", "5", "--queue", "mail", "--tag", "vip", "--dedupe-key", "r-42")
    answer = terminal("job", "submit", "greet", "name=Anna", *options, "-o", "json")
    assert answer.code == 0, answer.err
    job = answer.data
    assert set(job) == SHAPE
    assert (job["status"], job["arguments"]) == ("queued", {"name": "Anna"})
    assert (job["priority"], job["queue"], job["tags"]) == (5, "mail", ["vip"])
    again = terminal("job", "submit", "greet", "name=Berta", *options, "-o", "json").data
    assert (again["id"], again["arguments"]) == (job["id"], {"name": "Anna"})


@pytest.mark.parametrize("task", ["greet", "unheard-of"])
def test_a_job_is_submitted_with_how_long_and_how_often_it_is_tried(
    terminal: Terminal, task: str
) -> None:
    options = (
        "--timeout",
        "90s",
        "--dedupe-for",
        "2h",
        "--dedupe-scope",
        "orders",
        "--max-retries",
        "7",
    )
    more = ("--retry-delay", "10s", "--max-retry-delay", "1m", "--retry-strategy", "linear")
    answer = terminal("job", "submit", task, *options, *more, "-o", "json")
    assert answer.code == 0, answer.err
    spec = terminal.do(terminal.app.jobs.get(answer.data["id"])).spec
    assert spec.retry == Retry(Strategy.LINEAR, 7, 10.0, 60.0)
    assert (spec.timeout, spec.dedupe_for) == (90.0, timedelta(hours=2))
    assert spec.dedupe_scope == "orders"


@pytest.mark.parametrize(
    ("options", "retry"),
    [
        (("--max-retries", "0"), replace(DEFAULT_RETRY, max_retries=0)),
        (("--retry-delays", "1s,10s,1m"), Retry.delays(1, 10, 60)),
        (("--retry-delay", "2h"), replace(DEFAULT_RETRY, base_delay=7200.0, max_delay=7200.0)),
        ((), Retry.never()),
    ],
)
def test_what_is_not_said_of_a_retry_is_as_by_default(
    terminal: Terminal, options: tuple[str, ...], retry: Retry
) -> None:
    answer = terminal("job", "submit", "fail", *options, "-o", "json")
    assert terminal.do(terminal.app.jobs.get(answer.data["id"])).spec.retry == retry


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--retry-delay", "1m", "--max-retry-delay", "1s"), "max_delay 1.0 must be finite, and"),
        (("--retry-delay", "soon"), "soon"),
        (("--retry-delays", "1s,soon"), "soon"),
        (("--retry-delays", "1s", "--max-retries", "3"), "--retry-delays says all of a retry"),
        (("--max-retries", "-1"), "--max-retries"),
        (("--timeout", "0s"), "timeout"),
    ],
)
def test_a_retry_that_cannot_be_is_refused(
    terminal: Terminal, options: tuple[str, ...], words: str
) -> None:
    answer = terminal("job", "submit", "greet", *options)
    assert answer.code == 2
    assert words in answer.err


def test_arguments_may_be_one_json_object(terminal: Terminal) -> None:
    answer = terminal("job", "submit", "greet", "--json", '{"name": "Anna"}', "-o", "json")
    assert answer.data["arguments"] == {"name": "Anna"}


def test_a_job_of_a_task_that_only_others_know_is_stored_as_it_is(terminal: Terminal) -> None:
    answer = terminal("job", "submit", "elsewhere", "n=1", "name=x", "--at", "+1h", "-o", "json")
    assert answer.data["arguments"] == {"n": 1, "name": "x"}
    assert (answer.data["status"], answer.data["run_at"]) == ("pending", "2030-01-01T01:00:00Z")
    assert "its arguments are not checked" in answer.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("greet", "nome=Anna"), "got an unexpected keyword argument 'nome'"),
        (("greet", "name=1"), "Expected `str`, got `int`"),
        (("greet", "Anna"), "'Anna' is not an argument; write NAME=VALUE"),
        (("greet", "--json", "[1]"), "--json must be an object"),
        (("greet", "--json", "{"), "--json is not JSON"),
        (("greet", "--delay", "soon"), "'soon' is not a duration"),
        (("greet", "--dedupe-for", "366d"), "dedupe_for must be at most 365 days"),
        (("unheard-of", "--dedupe-for", "366d"), "dedupe_for must be at most 365 days"),
        (("greet", "--at", "soon"), "'soon' is not a time; allowed:"),
        (("greet", "--priority", "101"), "101 is not in the range 0<=x<=100"),
    ],
)
def test_a_job_that_cannot_be_submitted_is_refused(
    terminal: Terminal, arguments: tuple[str, ...], sentence: str
) -> None:
    answer = terminal("job", "submit", *arguments)
    assert answer.code == 2
    assert sentence in answer.err


def test_jobs_are_listed_newest_first_and_filtered(busy: Terminal) -> None:
    lines = busy("job", "list").out.splitlines()
    assert lines[0].split() == ["id", "status", "task", "queue", "took", "when", "(UTC)"]
    assert [line.split()[:3] for line in lines[1:]] == [
        ["3", "pending", "greet"],
        ["2", "failed", "fail"],
        ["1", "completed", "greet"],
    ]
    failed = busy("job", "list", "--status", "failed", "-o", "json").data
    assert [job["id"] for job in failed] == [2]
    assert busy("job", "list", "--task", "greet", "--limit", "1", "-o", "json").data[0]["id"] == 3
    assert "--limit shows more than 1" in busy("job", "list", "--limit", "1").err
    assert busy("job", "list", "--since", "+1h").out == "There are no such jobs.\n"


def test_a_job_is_shown_with_its_attempts(busy: Terminal) -> None:
    shown = busy("job", "show", "2", "-o", "json").data
    assert set(shown) == {*SHAPE, "attempts"}
    assert shown["error"].endswith("ValueError: no such customer")
    (attempt,) = shown["attempts"]
    assert (attempt["number"], attempt["change"]) == (1, "fail")
    assert '"Hello, Anna!"' in busy("job", "show", "1").out


def test_a_failed_job_is_retried_and_a_completed_one_is_not(busy: Terminal) -> None:
    assert busy("job", "retry", "2", "-o", "json").data == {"id": 2, "done": "queued again"}
    answer = busy("job", "retry", "1")
    assert answer.code == 4
    assert answer.err == ("Error: job 1 is completed; only failed and cancelled jobs are retried\n")


def test_a_waiting_job_is_cancelled_and_a_finished_one_is_not(busy: Terminal) -> None:
    assert busy("job", "cancel", "3", "--reason", "no need").out == "job 3 was cancelled\n"
    assert busy("job", "cancel", "3").code == 4
    assert busy("job", "show", "3", "-o", "json").data["error"] == "no need"


def test_waiting_for_a_completed_job_tells_its_status_and_succeeds(busy: Terminal) -> None:
    answer = busy("job", "wait", "1", "-o", "json")
    assert (answer.code, answer.data["result"]) == (0, "Hello, Anna!")
    assert answer.err == "job 1 is completed\n"


def test_waiting_for_a_failed_job_fails(busy: Terminal) -> None:
    answer = busy("job", "wait", "2", "-o", "json")
    assert (answer.code, answer.data["status"]) == (1, "failed")
    assert "Error: job 2 failed" in answer.err


@pytest.mark.parametrize("verb", ["show", "retry", "cancel", "wait"])
def test_an_unknown_id_is_one_sentence_and_exit_code_3(terminal: Terminal, verb: str) -> None:
    answer = terminal("job", verb, "99")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err == "Error: no job has the id 99; finished jobs are pruned after a while\n"


def test_the_depth_of_each_queue_is_told_by_status(busy: Terminal) -> None:
    assert busy("queue", "-o", "json").data == {
        "default": {
            "pending": 1,
            "queued": 0,
            "running": 0,
            "completed": 1,
            "failed": 1,
            "cancelled": 0,
        }
    }
    assert busy("queue").out.splitlines()[1].split() == ["default", "1", "-", "-", "1", "1", "-"]


def test_many_failed_jobs_are_retried_by_the_leader(busy: Terminal) -> None:
    busy("job", "submit", "fail")
    busy.drain()
    answer = busy("job", "retry", "--task", "fail", "--no-wait", "-o", "json")
    assert (answer.code, answer.data["status"], answer.data["kind"]) == (0, "queued", "retry")
    assert "Nobody leads" in answer.err
    busy.drain()
    operation = busy("job", "show", str(answer.data["id"]), "-o", "json").data
    assert operation["result"] == {"done": 2, "total": 2, "failed": 0}


def test_many_jobs_are_cancelled_and_a_dry_run_only_counts_them(busy: Terminal) -> None:
    counted = busy("job", "cancel", "--task", "greet", "--dry-run", "--no-wait", "-o", "json").data
    cancelled = busy("job", "cancel", "--task", "greet", "--reason", "no need", "--no-wait")
    assert cancelled.code == 0
    busy.drain()
    assert busy("job", "show", str(counted["id"]), "-o", "json").data["result"]["done"] == 1
    job = busy("job", "show", "3", "-o", "json").data
    assert (job["status"], job["error"]) == ("cancelled", "no need")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give the ID of one job, or options such as --status"),
        (("1", "--task", "greet"), "give the ID of one job, or options such as --status"),
        (("--status", "completed"), "status: only cancelled and failed jobs can be retried"),
    ],
)
def test_a_retry_of_nothing_of_both_or_of_what_cannot_be_is_refused(
    busy: Terminal, arguments: tuple[str, ...], sentence: str
) -> None:
    answer = busy("job", "retry", *arguments)
    assert answer.code == 2
    assert sentence in answer.err


def test_a_secret_argument_is_shown_to_nobody(terminal: Terminal) -> None:
    @terminal.app.task(secret=("password",))
    async def login(user: str, password: str) -> None: ...

    made = terminal("job", "submit", "login", "user=anna", "password=hunter2", "-o", "json")
    assert made.data["arguments"] == {"user": "anna", "password": "[redacted]"}
    for arguments in (("show", "1"), ("show", "1", "-o", "json"), ("list", "-o", "json")):
        shown = terminal("job", *arguments)
        assert shown.code == 0
        assert "hunter2" not in shown.out + shown.err
    assert b"hunter2" in terminal.do(terminal.app.jobs.get(1)).spec.arguments


def test_an_operation_that_somebody_cancels_meanwhile_is_an_error(
    busy: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled_meanwhile(fleet: Fleet, operation_id: int, *_: object) -> None:
        await fleet.jobs.cancel(operation_id, "wrong filter")

    monkeypatch.setattr("drumbeat.cli.commands.job.bulk.watch", cancelled_meanwhile)
    answer = busy("job", "retry", "--task", "fail", "-o", "json")
    assert (answer.code, answer.data["status"]) == (1, "cancelled")
    assert f"operation {answer.data['id']} cancelled" in answer.err


def test_a_job_may_be_submitted_by_an_earlier_name_of_its_task(terminal: Terminal) -> None:
    @terminal.app.task(aliases=("send_mail",))
    async def send_receipt(order_id: int) -> None: ...

    made = terminal("job", "submit", "send_mail", "order_id=1", "-o", "json")
    assert (made.code, made.data["task"]) == (0, "send_receipt")
    assert "not known here" not in made.err
    assert "send_mail" in terminal("task", "list").out


def test_a_result_is_printed_by_itself(busy: Terminal) -> None:
    assert busy("job", "result", "1").out == '"Hello, Anna!"\n'
    assert busy("job", "result", "1", "-o", "json").data == "Hello, Anna!"


def test_a_job_without_a_result_says_why(busy: Terminal) -> None:
    failed = busy("job", "result", "2")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == "Error: job 2 failed: ValueError: no such customer\n"
    unfinished = busy("job", "result", "3")
    assert (unfinished.code, unfinished.out) == (4, "")
    assert "job 3 is pending; `drumbeat job wait 3` waits for it" in unfinished.err
