"""The page in the admin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client

from drumbeat.django import app
from drumbeat.testing import SyncIsolatedApp, isolated

PAGE = "/admin/drumbeat/overview/"


@app.task
def ship(order: int) -> int:
    if order < 0:
        raise ValueError("<no such order>")
    return order


@app.scheduled("0 2 * * *")
def sweep() -> None: ...


@pytest.fixture
def drumbeat_sync(users: None) -> Iterator[SyncIsolatedApp]:
    with isolated(app) as test:
        yield SyncIsolatedApp(test)


@pytest.fixture(scope="module")
def users() -> None:
    call_command("migrate", verbosity=0)
    User.objects.create_superuser("anna", password="secret")
    ben = User.objects.create_user("ben", password="secret", is_staff=True)
    ben.user_permissions.add(Permission.objects.get(codename="view_overview"))
    User.objects.create_user("carl", password="secret", is_staff=True)


def client_of(name: str) -> Client:
    client = Client()
    assert client.login(username=name, password="secret")
    return client


def html(response: Any) -> str:
    assert response.status_code == 200
    text: str = response.content.decode()
    return text


def test_the_admin_has_a_place_for_it(drumbeat_sync: SyncIsolatedApp) -> None:
    assert PAGE in html(client_of("anna").get("/admin/"))


def test_the_page_shows_the_fleet(drumbeat_sync: SyncIsolatedApp) -> None:
    ship.submit_sync(7)
    ship.submit_sync(-1)
    assert "No node is alive" in html(client_of("anna").get(PAGE))
    with drumbeat_sync.running():
        drumbeat_sync.advance("1d")
        shown = html(client_of("anna").get(PAGE))
    assert "leads" in shown
    assert "sweep" in shown
    assert "&lt;no such order&gt;" in shown
    assert "<no such order>" not in shown
    failed = html(client_of("anna").get(f"{PAGE}?status=failed"))
    assert failed.count("<td>ship</td>") == 1
    assert failed.count("Retry") == 1


def test_buttons_act_and_the_audit_log_names_the_user(drumbeat_sync: SyncIsolatedApp) -> None:
    client = client_of("anna")
    with drumbeat_sync.running():

        def press(action: str, target: object) -> str:
            return html(client.post(PAGE, {"action": action, "target": str(target)}, follow=True))

        assert "Done: pause sweep." in press("pause", "sweep")
        assert "paused: by the admin of the site" in html(client.get(PAGE))
        assert "Done: resume sweep." in press("resume", "sweep")
        assert "Done: trigger sweep." in press("trigger", "sweep")
        job = ship.options(delay=60).submit_sync(7)
        assert f"Done: cancel {job.id}." in press("cancel", job.id)
        assert f"Done: retry {job.id}." in press("retry", job.id)
        assert "77777" in press("retry", 77777)
        assert "errornote" not in press("cancel", "nonsense")
        entries = drumbeat_sync.call(lambda: app.fleet.audit.list()).items
    assert {entry.actor for entry in entries} == {"anna (admin)"}


def test_permissions_are_those_of_the_admin(drumbeat_sync: SyncIsolatedApp) -> None:
    assert "Pause" not in html(client_of("ben").get(PAGE))
    given = {"action": "pause", "target": "sweep"}
    assert client_of("ben").post(PAGE, given).status_code == 403
    assert client_of("carl").get(PAGE).status_code == 403
    assert client_of("anna").post(PAGE, {"action": "drop"}).status_code == 403
    assert Client().get(PAGE).status_code == 302
    assert client_of("anna").get(f"{PAGE}add/").status_code == 403
