"""`pytest`: the shop with an empty store in memory."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from drumbeat.testing import SyncIsolatedApp
from shop import send_receipt, site, sweep


@pytest.fixture
def client(drumbeat_sync: SyncIsolatedApp) -> Iterator[TestClient]:
    del drumbeat_sync  # the site runs on it
    with TestClient(site) as client:
        yield client


def test_an_order_gets_a_receipt(client: TestClient, drumbeat_sync: SyncIsolatedApp) -> None:
    job = client.post("/orders/42").json()["job"]
    drumbeat_sync.assert_submitted(send_receipt, 42)
    drumbeat_sync.advance(1)
    shown = client.get(f"/jobs/{job}").json()
    assert shown == {"status": "completed", "receipt": "receipt for order 42"}
    assert client.get("/jobs/77777").status_code == 404


def test_it_sweeps_every_five_minutes(client: TestClient, drumbeat_sync: SyncIsolatedApp) -> None:
    del client
    drumbeat_sync.advance("10m")
    drumbeat_sync.assert_submitted(sweep, times=2)


def test_the_api_wants_a_token(client: TestClient) -> None:
    assert client.get("/drumbeat/jobs").status_code == 401
