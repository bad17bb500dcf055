"""JSON that is nested too deeply is refused at every door, and what is stored of it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat.cli.options.arguments import read_arguments
from drumbeat.cli.output.json_view import as_json
from drumbeat.engine.tasks.codec import Unstorable, encode_result
from drumbeat.fleet.remote.request import body_of
from drumbeat.model.encoding.json_depth import MOST_DEPTH
from drumbeat.model.errors import InvalidArguments
from drumbeat.model.jobs.job import JobSpec
from drumbeat.wire.job import job_view
from drumbeat.wire.redaction import REDACTED, redacted

from .caller import Caller, House, house

STORED = b'{"name":' + b"[" * 975 + b"]" * 975 + b"}"


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


@pytest.mark.parametrize("depth", [MOST_DEPTH, MOST_DEPTH + 50])
@pytest.mark.parametrize("task", ["greet", "unknown-here"])
async def test_a_deep_body_is_refused(ask: Caller, task: str, depth: int) -> None:
    answer = await ask("POST", "/jobs", {"task": task, "args": {"name": nested(depth)}})
    assert answer.status == 422
    assert "nested more" in answer.data["detail"]
    batch = await ask("POST", "/jobs/batch", {"jobs": [{"task": task, "payload": nested(depth)}]})
    assert batch.status == 422


async def test_a_body_that_is_just_not_too_deep_is_read(ask: Caller) -> None:
    args = {"name": nested(MOST_DEPTH - 1)}
    assert (await ask("POST", "/jobs", {"task": "other", "args": args})).status == 201


async def test_a_deep_schedule_is_refused(ask: Caller) -> None:
    body = {"task": "other", "when": "@daily", "args": {"name": nested(MOST_DEPTH)}}
    assert (await ask("PUT", "/schedules/deep", body)).status == 422


async def test_deep_arguments_are_refused_from_code(ours: House) -> None:
    @ours.app.task
    async def deep(value: list[Any]) -> None:
        """Takes anything."""

    with pytest.raises(InvalidArguments, match="more than 100 levels deep"):
        await deep.submit(value=nested(MOST_DEPTH))
    with pytest.raises(InvalidArguments, match="more than 100 levels deep"):
        await ours.app.submit(JobSpec("deep", STORED))
    await deep.submit(value=nested(MOST_DEPTH - 1))


def test_deep_values_are_refused_by_the_client_and_the_command_line() -> None:
    with pytest.raises(InvalidArguments, match="100 levels"):
        body_of({"args": nested(MOST_DEPTH + 10)})
    with pytest.raises(InvalidArguments, match="100 levels"):
        read_arguments([f"value={'[' * 101}{']' * 101}"])
    with pytest.raises(InvalidArguments, match="100 levels"):
        read_arguments([], STORED.decode())


def test_a_deep_result_is_not_kept() -> None:
    assert isinstance(encode_result(nested(MOST_DEPTH + 1)), Unstorable)
    assert isinstance(encode_result(nested(MOST_DEPTH)), bytes)


async def test_what_is_stored_already_is_shown_as_text(ask: Caller, ours: House) -> None:
    await ours.app.store.open()
    (planted,) = await ours.app.store.jobs.insert([JobSpec("old", STORED)])
    shown = await ask("GET", "/jobs")
    assert (shown.status, shown.data[0]["arguments"]) == (200, STORED.decode())
    one = await ask("GET", f"/jobs/{planted.job.id}")
    assert (one.status, one.data["arguments"]) == (200, STORED.decode())
    assert as_json(job_view(planted.job))["arguments"] == STORED.decode()


async def test_a_stream_of_events_tells_of_a_deep_job(ours: House) -> None:
    from drumbeat.api.http.response import encode

    (planted,) = await ours.app.store.jobs.insert([JobSpec("old", STORED)])
    assert b'"arguments":"{' in encode(job_view(planted.job))


def test_deep_secrets_are_hidden_whole() -> None:
    assert redacted(STORED, ("name",)) == f'"{REDACTED}"'.encode()
