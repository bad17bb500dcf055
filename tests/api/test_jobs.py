"""Jobs over HTTP: created, looked at, waited for, retried and cancelled."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat import Retry
from drumbeat.api.routes.document import document
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.jobs.retry import DEFAULT_RETRY, Strategy
from drumbeat.testing import drain

from .caller import Caller, House, house


@pytest.fixture
def ours() -> House:
    made = house()

    @made.app.task(secret=("password",), retry=Retry.never())
    async def login(user: str, password: str) -> None:
        raise ValueError("no such user")

    return made


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


async def test_many_jobs_are_created_in_their_order(ask: Caller) -> None:
    jobs: list[Any] = [{"task": "greet"}, {"task": "elsewhere", "payload": 3, "priority": 7}]
    answer = await ask("POST", "/jobs/batch", {"jobs": jobs})
    assert answer.status == 201
    assert [(job["task"], job["priority"]) for job in answer.data] == [
        ("greet", 0),
        ("elsewhere", 7),
    ]


async def test_of_many_jobs_all_are_created_or_none(ours: House, ask: Caller) -> None:
    jobs: list[Any] = [{"task": "greet"}, {"task": "greet", "args": {"nome": "Anna"}}]
    answer = await ask("POST", "/jobs/batch", {"jobs": jobs})
    assert (answer.status, answer.data["field"]) == (422, "jobs[1].args")
    assert "jobs[1]: task 'greet': got an unexpected keyword" in answer.data["detail"]
    assert not (await ours.app.jobs.list(JobFilter())).items


@pytest.mark.parametrize("count", [0, 1_001])
async def test_a_batch_has_one_to_a_thousand_jobs(ask: Caller, count: int) -> None:
    answer = await ask("POST", "/jobs/batch", {"jobs": [{"task": "greet"}] * count})
    assert (answer.status, answer.data["field"]) == (422, "jobs")


async def test_a_known_key_is_answered_by_the_job_that_stands_for_it(ask: Caller) -> None:
    body = {"task": "greet", "dedupe_key": "receipt-42"}
    first, again = await ask("POST", "/jobs", body), await ask("POST", "/jobs", body)
    assert (first.status, again.status) == (201, 200)
    assert first.data == again.data
    assert first.headers["location"] == again.headers["location"] == "/jobs/1"


async def test_secret_arguments_are_shown_to_nobody(ours: House, ask: Caller) -> None:
    body = {"task": "login", "args": {"user": "anna", "password": "hunter2"}}
    created = await ask("POST", "/jobs", body)
    assert created.data["arguments"] == {"user": "anna", "password": "[redacted]"}
    await drain(ours.app)
    for path in ("/jobs", "/jobs/1", "/jobs/1/wait", "/jobs/1/attempts"):
        answer = await ask("GET", path)
        assert answer.status == 200
        assert b"hunter2" not in answer.body
    assert b"hunter2" in (await ours.app.jobs.get(1)).spec.arguments


async def test_a_job_is_shown_with_its_attempts(ours: House, ask: Caller) -> None:
    await ask("POST", "/jobs", {"task": "login", "args": ["anna", "hunter2"]})
    await drain(ours.app)
    (attempt,) = (await ask("GET", "/jobs/1/attempts")).data
    assert (attempt["number"], attempt["change"]) == (1, "fail")
    assert attempt["error"].endswith("ValueError: no such user")


@pytest.mark.parametrize("path", ["/jobs/9", "/jobs/9/attempts", "/jobs/9/wait", "/jobs/x"])
async def test_a_job_that_is_not_there_is_not_found(ask: Caller, path: str) -> None:
    answer = await ask("GET", path)
    assert (answer.status, answer.kind) == (404, "unknown-job")


async def test_waiting_ends_with_the_job_or_with_the_time(ours: House, ask: Caller) -> None:
    await ask("POST", "/jobs", {"task": "greet"})
    late = await ours.clock.until(ask("GET", "/jobs/1/wait?timeout=5"))
    assert (late.status, late.kind) == (504, "not-in-time")
    await drain(ours.app)
    assert (await ask("GET", "/jobs/1/wait")).data["result"] == "Hello, world!"
    too_long = await ask("GET", "/jobs/1/wait?timeout=61")
    assert (too_long.status, too_long.data["field"]) == (422, "timeout")


async def test_a_failed_job_is_retried_and_a_completed_one_is_not(ours: House, ask: Caller) -> None:
    await ask("POST", "/jobs", {"task": "login", "args": ["anna", "x"]})
    await ask("POST", "/jobs", {"task": "greet"})
    await drain(ours.app)
    assert (await ask("POST", "/jobs/1/retry")).data["status"] == "queued"
    refused = await ask("POST", "/jobs/2/retry", {"reason": "again"})
    assert (refused.status, refused.data["field"]) == (409, "status")
    assert refused.data["detail"] == (
        "job 2 is completed; only failed and cancelled jobs are retried"
    )


async def test_a_waiting_job_is_cancelled_once(ask: Caller) -> None:
    await ask("POST", "/jobs", {"task": "elsewhere"})
    cancelled = (await ask("POST", "/jobs/1/cancel", {"reason": "no need"})).data
    assert (cancelled["status"], cancelled["error"]) == ("cancelled", "no need")
    assert (await ask("POST", "/jobs/1/cancel")).status == 409
    assert (await ask("POST", "/jobs/2/cancel")).status == 404


async def test_what_is_changed_is_in_the_audit_log_and_what_is_submitted_is_not(
    ask: Caller,
) -> None:
    await ask("POST", "/jobs", {"task": "elsewhere"})
    await ask("POST", "/jobs/1/cancel", {"reason": "no need"})
    (entry,) = (await ask("GET", "/audit")).data
    assert (entry["action"], entry["reason"], entry["outcome"]) == ("job.cancel", "no need", "done")


async def test_pages_follow_each_other_by_their_links(ask: Caller) -> None:
    await ask("POST", "/jobs/batch", {"jobs": [{"task": "a"}, {"task": "b"}] * 3})
    path, found = "/jobs?task=a&limit=2", list[int]()
    while path:
        page = await ask("GET", path)
        found += [job["id"] for job in page.data]
        path = page.headers.get("link", "").partition(">")[0].removeprefix("<")
    assert found == [5, 3, 1]


@pytest.mark.parametrize("path", ["/jobs", "/schedules", "/schedules/x/ticks", "/audit"])
async def test_a_place_that_no_page_gave_out_is_named(ask: Caller, path: str) -> None:
    refused = await ask("GET", f"{path}?after=nowhere")
    assert (refused.status, refused.data["field"]) == (422, "after")
    assert "Link header" in refused.data["detail"]


RETRY = {"strategy": "linear", "max_retries": 2, "base_delay": 5, "max_delay": 60}


@pytest.mark.parametrize("task", ["login", "elsewhere"])
async def test_a_job_may_say_how_it_is_tried_again(ours: House, ask: Caller, task: str) -> None:
    args = {"user": "anna", "password": "hunter2"}
    bodies: list[Any] = [{"retry": RETRY}, {"retry": {}}, {"retry": None}, {}]
    for body in bodies:
        await ask("POST", "/jobs", {"task": task, "args": args, **body})
    await ask("POST", "/jobs/batch", {"jobs": [{"task": task, "args": args, "retry": RETRY}]})
    given = Retry(Strategy.LINEAR, 2, 5.0, 60.0)
    own = Retry.never() if task == "login" else DEFAULT_RETRY
    stored = reversed((await ours.app.jobs.list(JobFilter())).items)
    assert [job.spec.retry for job in stored] == [given, DEFAULT_RETRY, own, own, given]


async def test_a_list_of_delays_is_kept_and_can_be_given_back(ours: House, ask: Caller) -> None:
    args = {"user": "anna", "password": "hunter2"}
    delays = Retry.delays(1.0, 60.0, 5.0)
    await ask("POST", "/jobs", {"task": "login", "args": args, "retry": {"delays": [1, 60, 5]}})
    assert (await ours.app.jobs.get(1)).spec.retry == delays
    schedule = {"task": "login", "args": args, "when": "@daily", "retry": {"delays": [1, 60, 5]}}
    told = (await ask("PUT", "/schedules/often", schedule)).data["retry"]
    assert told == {
        "strategy": "delays",
        "max_retries": 3,
        "base_delay": 1,
        "max_delay": 60,
        "delays": [1, 60, 5],
    }
    assert (await ask("PATCH", "/schedules/often", {"retry": told})).status == 200
    assert (await ours.app.schedules.get("often")).schedule.job.retry == delays


async def test_a_job_is_tried_again_as_it_says(ours: House, ask: Caller) -> None:
    args = {"user": "anna", "password": "hunter2"}
    await ask("POST", "/jobs", {"task": "login", "args": args, "retry": RETRY})
    for attempt, status in ((1, "pending"), (2, "pending"), (3, "failed")):
        await drain(ours.app)
        job = (await ask("GET", "/jobs/1")).data
        assert (job["attempt"], job["status"]) == (attempt, status)
        await ours.clock.advance("5s")
        await ours.app.store.jobs.promote(10)


@pytest.mark.parametrize(
    ("retry", "field", "rule"),
    [
        ({"max_retries": 1_001}, "retry.max_retries", "Expected `int` <= 1000"),
        ({"max_retries": -1}, "retry.max_retries", "Expected `int` >= 0"),
        ({"base_delay": -1}, "retry.base_delay", "Expected `float` >= 0.0"),
        (
            {"strategy": "hope"},
            "retry.strategy",
            "Invalid enum value 'hope'; allowed: linear, backpressure, delays, function",
        ),
        ({"retries": 3}, "retry.retries", "Object contains unknown field `retries`"),
        ({"strategy": "delays"}, "retry", "the strategy delays needs delays, such as [1, 10, 60]"),
        (
            {"delays": [1, 10], "max_retries": 3},
            "retry",
            "with delays, max_retries need not be given, and is 2",
        ),
        (
            {"delays": [1], "strategy": "linear"},
            "retry",
            "with delays, strategy need not be given, and is delays",
        ),
        ({"delays": [1, -1]}, "retry.delays[1]", "Expected `float` >= 0.0"),
        (
            {"base_delay": 60, "max_delay": 5},
            "retry",
            "max_delay, 5 s, must not be shorter than base_delay, 60 s",
        ),
        ("linear", "retry", "Expected `object | null`, got `str`"),
    ],
)
async def test_a_retry_that_cannot_be_is_refused_by_its_field(
    ours: House, ask: Caller, retry: Any, field: str, rule: str
) -> None:
    answer = await ask("POST", "/jobs", {"task": "greet", "retry": retry})
    assert (answer.status, answer.data["field"], answer.data["rule"]) == (422, field, rule)
    schedule = {"task": "greet", "when": "@hourly", "retry": retry}
    assert (await ask("PUT", "/schedules/beat", schedule)).data["field"] == field
    assert not (await ours.app.jobs.list(JobFilter())).items


def test_the_document_tells_how_a_job_says_it() -> None:
    schemas: Any = document()["components"]
    told = schemas["schemas"]["NewJobView"]["properties"]["retry"]
    assert {"$ref": "#/components/schemas/NewRetryView"} in told["anyOf"]
    assert told["description"].startswith("How often it is tried again")


@pytest.mark.parametrize("task", ["drumbeat.retry_jobs", "drumbeat.mine"])
async def test_built_in_tasks_are_not_submitted(ask: Caller, task: str) -> None:
    answer = await ask("POST", "/jobs", {"task": task})
    assert (answer.status, answer.data["field"]) == (422, "task")


@pytest.mark.parametrize(
    "body",
    [
        {"task": "greet", "queue": "@leader"},
        {"task": "greet", "queue": "a\x00b"},
        {"task": "greet", "colour": "red"},
        {"task": "elsewhere", "args": [1, 2]},
        {"task": "greet", "payload": 1, "args": {}},
        {"task": "greet", "delay": 5, "schedule_at": "2030-01-01T00:00:00Z"},
        {"task": "greet", "schedule_at": "2030-01-01T00:00:00"},
    ],
)
async def test_a_job_that_cannot_be_is_refused(ask: Caller, body: Any) -> None:
    assert (await ask("POST", "/jobs", body)).status == 422


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_an_instant_outside_of_all_years_is_refused(ask: Caller, instant: str) -> None:
    answer = await ask("POST", "/jobs", {"task": "elsewhere", "schedule_at": instant})
    assert answer.status == 422
    assert "must lie between 1900-01-01 and 9000-01-01" in answer.data["detail"]


async def test_a_job_without_a_task_goes_to_the_default_task(ours: House) -> None:
    answer = await house(default_task="greet").caller()("POST", "/jobs", {"payload": "Anna"})
    assert (answer.status, answer.data["task"]) == (201, "greet")
    refused = await ours.caller()("POST", "/jobs", {"payload": "Anna"})
    assert (refused.status, refused.kind, refused.data["field"]) == (422, "task-missing", "task")
    assert "DRUMBEAT_DEFAULT_TASK" in refused.data["detail"]
