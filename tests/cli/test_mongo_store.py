"""Commands on a MongoDB store."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from servers import GivenMongo, Mongo, MongoInMemory
from tests.support.mongo_namespace import namespace_in

from .support import Answer, run

On = Callable[..., Answer]


@pytest.fixture
def on(mongo: Mongo | GivenMongo) -> Iterator[On]:
    """Runs a command on a namespace of its own."""
    with namespace_in(mongo.address) as namespace:
        yield lambda *words: run("--store", mongo.address, "--namespace", namespace, *words)


def test_the_indexes_are_made_by_migrations_that_are_listed(on: On) -> None:
    before = on("db", "status")
    assert before.code == 1
    assert "pending" in before.out
    assert on("db", "migrate").code == 0
    after = on("db", "status")
    assert (after.code, "pending" in after.out, "applied" in after.out) == (0, False, True)
    assert on("db", "migrate").code == 0, "a second time does nothing"


def test_a_job_is_submitted_and_listed(on: On) -> None:
    assert on("db", "migrate").code == 0
    submitted = on("job", "submit", "send", "--json", '{"a.b": {"$where": "1"}}')
    assert submitted.code == 0, submitted.err
    listed = on("-o", "json", "job", "list")
    assert listed.code == 0, listed.err
    assert [job["task"] for job in listed.data] == ["send"]


def test_the_doctor_finds_the_store_well(on: On) -> None:
    assert on("db", "migrate").code == 0
    answer = on("-o", "json", "doctor")
    checks = {check["check"]: check["ok"] for check in answer.data}
    assert checks["store"]


def test_of_all_commands_only_the_doctor_advises_against_a_standalone_server(
    mongo: Mongo | GivenMongo, caplog: pytest.LogCaptureFixture
) -> None:
    with MongoInMemory.start() as standalone:
        words = ("--store", standalone.address)
        for command in (("db", "migrate"), ("job", "list"), ("job", "submit", "send")):
            answer = run(*words, *command)
            assert answer.code == 0, answer.err
        doctor = run(*words, "-o", "json", "doctor")
        assert "standalone" not in caplog.text
    (advice,) = [check for check in doctor.data if check["check"] == "advice"]
    assert advice["ok"], "it works"
    assert advice["seen"].endswith("A replica set of three members is advised")
