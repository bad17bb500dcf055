"""`drumbeat.fastapi`: the lifespan, the dependency and the mounted API."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient

from drumbeat import Drumbeat
from drumbeat.fastapi import DrumbeatApp, attach, attached_app, lifespan
from drumbeat.model.errors import ConfigurationError
from tests.support.own_project import own_tests_pass_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "fastapi"


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://", environment={})


def running(app: Drumbeat) -> bool:
    return app._state.node is not None  # pyright: ignore[reportPrivateUsage]


def test_the_tests_of_the_example_pass_and_leave_nothing_behind(tmp_path: Path) -> None:
    own_tests_pass_in(EXAMPLE, tmp_path, count=3)


def test_the_own_lifespan_surrounds_the_app(app: Drumbeat) -> None:
    said: list[tuple[str, bool]] = []

    @asynccontextmanager
    async def own(_: FastAPI) -> AsyncGenerator[dict[str, str]]:
        said.append(("opened", running(app)))
        yield {"kept": "for requests"}
        said.append(("closed", running(app)))

    site = FastAPI(lifespan=own)
    attach(site, app)
    with TestClient(site) as client:
        assert running(app)
        assert client.app_state == {"kept": "for requests"}
    assert said == [("opened", False), ("closed", False)]
    assert not running(app)


def test_a_lifespan_without_an_own_one(app: Drumbeat) -> None:
    with TestClient(FastAPI(lifespan=lifespan(app))):
        assert running(app)
    assert not running(app)


def test_path_operations_get_the_app_also_in_a_router(app: Drumbeat) -> None:
    @app.task
    async def ship(order: int) -> int:
        return order

    router = APIRouter()

    @router.post("/{order}")
    async def place(order: int, drumbeat: DrumbeatApp) -> int:
        job = await ship.submit(order)
        result: int = await drumbeat.jobs.result(job, 30)
        return result

    site = FastAPI()
    site.include_router(router, prefix="/orders")
    attach(site, app)
    with TestClient(site) as client:
        assert client.post("/orders/7").json() == 7


def test_the_dependency_can_be_replaced(app: Drumbeat) -> None:
    site = FastAPI()

    @site.get("/")
    async def name(drumbeat: DrumbeatApp) -> str:
        return drumbeat.settings.namespace

    attach(site, Drumbeat("memory://", environment={}, namespace="real"))
    site.dependency_overrides[attached_app] = lambda: app
    assert TestClient(site).get("/").json() == "drumbeat"


def test_a_site_that_only_submits_is_no_node(app: Drumbeat) -> None:
    site = FastAPI()
    attach(site, app, roles=None, mount="/drumbeat")
    with TestClient(site) as client:
        assert not running(app)
        assert client.get("/drumbeat/jobs").status_code == 401


def test_a_site_without_an_app_says_what_to_call(app: Drumbeat) -> None:
    site = FastAPI()

    @site.get("/")
    async def name(drumbeat: DrumbeatApp) -> str:
        return drumbeat.settings.namespace

    with pytest.raises(ConfigurationError, match=r"call drumbeat\.fastapi\.attach"):
        TestClient(site).get("/")
    attach(site, app)
    with pytest.raises(ConfigurationError, match="attach is called once"):
        attach(site, app)
