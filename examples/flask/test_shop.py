"""`pytest`: the shop with an empty store in memory."""

import pytest
from flask.testing import FlaskClient

from drumbeat.testing import SyncIsolatedApp
from shop import create_app, send_receipt, sweep


@pytest.fixture
def client(drumbeat_sync: SyncIsolatedApp) -> FlaskClient:
    del drumbeat_sync  # the site uses it
    return create_app().test_client()


def test_an_order_gets_a_receipt(client: FlaskClient, drumbeat_sync: SyncIsolatedApp) -> None:
    job = client.post("/orders/42").get_json()["job"]
    drumbeat_sync.assert_submitted(send_receipt, 42)
    assert drumbeat_sync.drain().completed == 1
    assert client.get(f"/jobs/{job}").get_json() == {
        "status": "completed",
        "receipt": "Tea and more: receipt for order 42",
    }
    assert client.get("/jobs/77777").status_code == 404


def test_it_sweeps_every_five_minutes(drumbeat_sync: SyncIsolatedApp) -> None:
    with drumbeat_sync.running():
        drumbeat_sync.advance("10m")
    jobs = drumbeat_sync.assert_submitted(sweep, times=2)
    assert {job.status for job in jobs} == {"completed"}
