"""What the API answers is what its document says, to good requests and to bad ones.

Schemathesis makes the requests from the document and judges the answers by it, on a real port.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from schemathesis import checks as known_checks
from schemathesis.generation.modes import GenerationMode

from drumbeat import Drumbeat, cron
from drumbeat.api.routes.document import document

schemathesis.openapi  # noqa: B018 - loads the checks

Value = str | float | bool | list[Any] | dict[str, Any] | None
TOKEN = "let-me-in-with-this-one"
ENDLESS = {"GET /events"}
NOT_HELD = {"positive_data_acceptance", "ignored_auth"}
"""Some rules are beyond what a schema can say, such as a cron that never comes; and the bound on
failed attempts answers before the token does. `test_gate` walks all routes without one."""
KNOWN = {"id": "1", "name": "nightly", "key": "colour"}
EXAMPLES = 4
LONGEST = 120.0

schema: Any = schemathesis.openapi.from_dict(document())
OPERATIONS: list[Any] = [
    found.ok() for found in schema.get_all_operations() if found.ok().label not in ENDLESS
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A node that serves the API and works, in a thread of its own."""
    ready, told = threading.Event(), {}
    loop, ending = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        app = Drumbeat(
            "memory://",
            environment={},
            http_addr="127.0.0.1:0",
            api_token=TOKEN,
            default_task="greet",
        )

        @app.task
        async def greet(name: Value = "world") -> str:
            return f"Hello, {name}!"

        @app.scheduled(cron("0 2 * * *"))
        async def nightly() -> None: ...

        async with app.running(["api", "scheduler", "worker"]):
            for number in range(3):
                await greet.submit(number)
            await app.config.put("colour", b'"blue"')
            told["address"] = f"http://{app.addresses[0]}"
            ready.set()
            await ending.wait()

    serving = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    serving.start()
    assert ready.wait(LONGEST)
    yield told["address"]
    loop.call_soon_threadsafe(ending.set)
    serving.join()
    loop.close()


def checks(status: int) -> list[Any]:
    """Those that hold for an answer. That a job did not end in time, 504, is no server's fault."""
    known: Any = known_checks
    excused = frozenset({"not_a_server_error"} if status == 504 else ())
    left_out = NOT_HELD | excused
    held = [check for check in known.CHECKS.get_all() if check.__name__ not in left_out]
    assert any(check.__name__ == "response_schema_conformance" for check in held)
    return held


def put(operation: Any, mode: GenerationMode, address: str) -> int:
    """Put a few requests of a kind, and judge each answer; how many there were."""
    asked = 0

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )
    @given(case=operation.as_strategy(generation_mode=mode), real=some.booleans())
    def ask(case: Any, real: bool) -> None:
        nonlocal asked
        asked += 1
        if case.path_parameters and real and mode is GenerationMode.POSITIVE:
            case.path_parameters = {name: KNOWN[name] for name in case.path_parameters}
        if operation.label.endswith("/wait") and mode is GenerationMode.POSITIVE:
            case.query = {"timeout": 0.1}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = case.call(base_url=address, headers=headers, timeout=LONGEST)
        case.validate_response(answer, checks=checks(answer.status_code))

    ask()
    return asked


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: str(each.label))
def test_good_requests_are_answered_as_the_document_says(operation: Any, address: str) -> None:
    assert put(operation, GenerationMode.POSITIVE, address)


@pytest.mark.parametrize(
    "operation",
    [each for each in OPERATIONS if each.body or each.query],
    ids=lambda each: str(each.label),
)
def test_bad_requests_are_refused_as_the_document_says(operation: Any, address: str) -> None:
    assert put(operation, GenerationMode.NEGATIVE, address)


def test_the_document_tells_of_every_route() -> None:
    from drumbeat.api.table import TABLE

    told = {
        (method.upper(), path)
        for path, operations in document()["paths"].items()
        for method in operations
    }
    assert told == {(route.method, route.path) for route in TABLE}


def test_every_parameter_and_field_is_described_or_speaks_for_itself() -> None:
    paths = document()["paths"]
    (after,) = [each for each in paths["/jobs"]["get"]["parameters"] if each["name"] == "after"]
    assert after["description"].startswith("Where the page before ended")
    assert after["schema"]["type"] == "string"
    job = document()["components"]["schemas"]["JobView"]
    assert job["properties"]["worker_id"]["description"] == (
        "The label of the node that runs or ran it."
    )
    assert paths["/jobs"]["post"]["security"] == [
        {"token": ["submitter"]},
        {"session": ["submitter"]},
    ]
    assert paths["/livez"]["get"]["security"] == []


def headers_of(method: str, path: str) -> set[str]:
    """The headers of a request that the document tells of."""
    told = document()["paths"][path][method.lower()].get("parameters", ())
    return {each["name"] for each in told if each["in"] == "header"}


def test_headers_that_are_heeded_are_told() -> None:
    from drumbeat.api.table import TABLE

    assert headers_of("GET", "/events") == {"Last-Event-ID"}
    assert headers_of("PUT", "/configuration/{key}") >= {"If-Match", "If-None-Match"}
    for route in TABLE:
        says_why = "X-Drumbeat-Reason" in headers_of(route.method, route.path)
        assert says_why is route.audited, route.path


def test_headers_of_answers_are_told() -> None:
    paths = document()["paths"]
    made = paths["/jobs"]["post"]["responses"]
    assert set(made["201"]["headers"]) == set(made["200"]["headers"]) == {"Location"}
    assert set(made["503"]["headers"]) == {"Retry-After"}
    assert set(paths["/jobs"]["get"]["responses"]["200"]["headers"]) == {"Link"}
    assert "headers" not in paths["/tasks"]["get"]["responses"]["200"]  # it has no pages
