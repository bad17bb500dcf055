"""Django's own tasks, run as jobs of Drumbeat."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast

import pytest
from django.utils import timezone

from drumbeat import Cancel, Fail, Snooze
from drumbeat.testing import SyncIsolatedApp
from tests.django.inside.conftest import LIBRARY

tasks: Any = importlib.import_module(LIBRARY)
exceptions: Any = importlib.import_module(f"{LIBRARY}.exceptions")
signals: Any = importlib.import_module(f"{LIBRARY}.signals")
InvalidTask = getattr(exceptions, "InvalidTask", None) or exceptions.InvalidTaskError
LATER = timedelta(hours=1)


def django_task(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """The decorator of Django, which the backport does not type."""
    return cast("Callable[[Callable[..., Any]], Any]", tasks.task(**options))


@django_task(queue_name="mail")
def greet(name: str, *, loudly: bool = False) -> str:
    return f"Hello, {name}{'!' if loudly else '.'}"


@django_task()
async def greet_asynchronously(name: str) -> str:
    return f"Hello, {name}"


@django_task(takes_context=True)
def which_attempt(context: Any) -> int:
    number: int = context.attempt
    return number


@django_task()
def fail() -> None:
    raise ValueError("no stock")


def test_a_task_is_a_job_with_a_result(drumbeat_sync: SyncIsolatedApp) -> None:
    result = greet.enqueue("Anna", loudly=True)
    assert result.status == tasks.TaskResultStatus.READY
    assert (result.args, result.kwargs) == (["Anna"], {"loudly": True})
    (job,) = drumbeat_sync.submitted(greet.module_path)
    assert (str(job.id), job.spec.queue) == (result.id, "mail")

    assert drumbeat_sync.drain().completed == 1
    result.refresh()
    assert result.is_finished
    assert result.return_value == "Hello, Anna!"
    assert result.attempts == 1
    assert result.started_at is not None
    assert greet.get_result(result.id).return_value == "Hello, Anna!"
    with pytest.raises(exceptions.TaskResultMismatch):
        fail.get_result(result.id)


async def test_coroutines_submit_and_run_tasks(drumbeat_sync: SyncIsolatedApp) -> None:
    del drumbeat_sync
    from drumbeat.django import app
    from drumbeat.testing import drain

    result = await greet_asynchronously.aenqueue("Ben")
    assert (await drain(app)).completed == 1
    await result.arefresh()
    assert result.return_value == "Hello, Ben"
    found = await greet_asynchronously.aget_result(result.id)
    assert found.return_value == "Hello, Ben"


def test_a_task_knows_its_attempt(drumbeat_sync: SyncIsolatedApp) -> None:
    result = which_attempt.enqueue()
    drumbeat_sync.drain()
    result.refresh()
    assert result.return_value == 1


def test_a_failed_task_says_why(drumbeat_sync: SyncIsolatedApp) -> None:
    result = fail.enqueue()
    with drumbeat_sync.running():
        drumbeat_sync.advance("1d")
    result.refresh()
    assert result.status == tasks.TaskResultStatus.FAILED
    assert result.attempts == 4
    (error,) = result.errors
    assert error.exception_class is ValueError
    assert "no stock" in error.traceback


@django_task()
def decide(outcome: str) -> None:
    if outcome == "snooze":
        raise Snooze("1h")
    raise Fail("no such order") if outcome == "fail" else Cancel("no longer needed")


@contextmanager
def heard_signals() -> Generator[list[tuple[str, str]]]:
    heard: list[tuple[str, str]] = []

    def listen(name: str) -> Any:
        def hear(sender: Any, task_result: Any, **_: Any) -> None:
            heard.append((name, str(task_result.status)))

        return hear

    listeners = {name: listen(name) for name in ("enqueued", "started", "finished")}
    for name, listener in listeners.items():
        getattr(signals, f"task_{name}").connect(listener)
    try:
        yield heard
    finally:
        for name, listener in listeners.items():
            getattr(signals, f"task_{name}").disconnect(listener)


@pytest.mark.parametrize("outcome", ["fail", "cancel"])
def test_a_task_that_decides_to_end_is_reported_as_finished(
    drumbeat_sync: SyncIsolatedApp, outcome: str
) -> None:
    with heard_signals() as heard:
        decide.enqueue(outcome)
        drumbeat_sync.drain(include_pending=True)
    assert heard == [("enqueued", "READY"), ("started", "RUNNING"), ("finished", "FAILED")]


def test_a_task_that_snoozes_at_its_last_attempt_is_not_finished(
    drumbeat_sync: SyncIsolatedApp,
) -> None:
    with heard_signals() as heard, drumbeat_sync.inline():
        decide.enqueue("snooze")
    assert ("finished", "FAILED") not in heard


def test_the_signals_of_django_are_sent_once_for_each_outcome(
    drumbeat_sync: SyncIsolatedApp,
) -> None:
    with heard_signals() as heard:
        fail.enqueue()
        with drumbeat_sync.running():
            drumbeat_sync.advance("1d")
    assert heard == [("enqueued", "READY"), *[("started", "RUNNING")] * 4, ("finished", "FAILED")]


def test_priority_and_time_are_those_of_the_job(drumbeat_sync: SyncIsolatedApp) -> None:
    at = timezone.now() + LATER
    greet.using(priority=7, run_after=at).enqueue("Anna")
    (job,) = drumbeat_sync.submitted()
    assert (job.spec.priority, job.spec.run_at) == (7, at)
    with pytest.raises(InvalidTask, match="from 0 to 100"):
        greet.using(priority=-1)
    with pytest.raises(InvalidTask, match="Queue"):
        greet.using(queue_name="elsewhere")


@pytest.mark.parametrize("unknown", ["77777", "nonsense"])
def test_a_result_that_does_not_exist(drumbeat_sync: SyncIsolatedApp, unknown: str) -> None:
    with pytest.raises(exceptions.TaskResultDoesNotExist):
        greet.get_result(unknown)


def test_a_job_of_another_task_is_no_result_of_django(drumbeat_sync: SyncIsolatedApp) -> None:
    from drumbeat.django import app

    @app.task(name="ours")
    def ours() -> None: ...

    job = ours.submit_sync()
    with pytest.raises(exceptions.TaskResultDoesNotExist, match="'ours'"):
        greet.get_backend().get_result(str(job.id))
