"""An API that is mounted into another app answers below its place, and names places below it."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.testing import inside
from drumbeat.wiring.http import api_of

from .caller import Answer, asked

JSON = (b"content-type", b"application/json")
TOKEN = (b"authorization", b"Bearer let-me-in-with-this-one")


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://", environment={}, api_token="let-me-in-with-this-one")


async def put(api: Any, method: str, path: str, body: bytes = b"", *, token: bool = True) -> Answer:
    where, _, query = path.partition("?")
    connection: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": where,
        "raw_path": where.encode(),
        "root_path": "/beat",
        "query_string": query.encode(),
        "headers": [JSON, *([TOKEN] if token else [])],
        "client": ("10.0.0.1", 1),
        "scheme": "http",
    }
    return await asked(api, connection, body)


async def test_it_answers_below_its_place_and_only_to_those_with_a_token(app: Drumbeat) -> None:
    assert (await put(app.asgi(), "GET", "/beat/jobs")).status == 200
    assert (
        await put(api_of(inside.measured_fleet(app)), "GET", "/beat/jobs", token=False)
    ).status == 401


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/beat/jobs", b'{"task": "x"}'),
        ("/beat/schedules", b'{"name": "a/b", "task": "x", "when": "@daily"}'),
        ("/beat/jobs/cancel", b'{"filter": {"task": "x"}}'),
    ],
)
async def test_what_was_made_is_found_where_the_answer_says(
    app: Drumbeat, path: str, body: bytes
) -> None:
    api = app.asgi()
    made = await put(api, "POST", path, body)
    assert made.status in (201, 202)
    assert made.headers["location"].startswith("/beat/")
    found = await put(api, "GET", made.headers["location"])
    assert found.status == 200
    key = "name" if "name" in made.data else "id"
    assert found.data[key] == made.data[key]


async def test_the_next_page_is_found_where_the_answer_says(app: Drumbeat) -> None:
    api = app.asgi()
    for _ in range(2):
        await put(api, "POST", "/beat/jobs", b'{"task": "x"}')
    first = await put(api, "GET", "/beat/jobs?limit=1")
    link = first.headers["link"].partition(">")[0].removeprefix("<")
    assert [job["id"] for job in (await put(api, "GET", link)).data] == [1]


async def test_the_document_names_its_place(app: Drumbeat) -> None:
    document = (await put(app.asgi(), "GET", "/beat/openapi.json")).data
    assert document["servers"] == [{"url": "/beat"}]
