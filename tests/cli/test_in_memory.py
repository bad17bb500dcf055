"""The command line beside instances that each keep their store in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from drumbeat import Drumbeat
from drumbeat.model.events import LeadershipGained

from .support import run

NOTHING = "nothing of it can be seen from outside; ask an instance over HTTP with --server URL"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRUMBEAT_SERVER", raising=False)
    monkeypatch.setenv("DRUMBEAT_STORE", "memory://")
    monkeypatch.setenv("DRUMBEAT_COORDINATOR", f"sqlite:///{tmp_path}/leader.db")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [("node", "list"), ("schedule", "list"), ("job", "list"), ("leader", "history"), ("audit",)],
)
def test_a_question_to_the_store_says_how_to_ask_an_instance(command: tuple[str, ...]) -> None:
    answer = run(*command)
    assert (answer.code, answer.out) == (2, "")
    assert NOTHING in " ".join(answer.err.split())


def test_an_app_in_a_module_is_no_better_known(here: Path) -> None:
    (here / "shop_in_memory.py").write_text(
        "from drumbeat import Drumbeat\napp = Drumbeat('memory://')\n", encoding="utf-8"
    )
    answer = run("--app", "shop_in_memory:app", "node", "list")
    assert answer.code == 2
    assert NOTHING in " ".join(answer.err.split())


async def test_who_leads_is_asked_of_the_coordinator(here: Path) -> None:
    gained = asyncio.Event()
    app = Drumbeat("memory://", instance_id="web-1")

    @app.leadership.on_gained
    def note(event: LeadershipGained) -> None:
        gained.set()

    async with app.running():
        await gained.wait()
        answer = await asyncio.to_thread(run, "leader", "-o", "json")
        assert answer.data["leader"].startswith("web-1:")
        doctor = await asyncio.to_thread(run, "doctor", "-o", "json")
    checks = {check["check"]: check for check in doctor.data}
    assert checks["leader"]["ok"]
    assert checks["store"]["ok"]
    assert NOTHING in checks["store"]["seen"]
    assert "nodes" not in checks
    assert doctor.code == 0


def test_without_a_coordinator_nobody_knows_who_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRUMBEAT_COORDINATOR")
    for command in (("leader",), ("leader", "resign")):
        answer = run(*command)
        assert answer.code == 2
        assert NOTHING in " ".join(answer.err.split())
    doctor = run("doctor", "-o", "json")
    checks = {check["check"]: check for check in doctor.data}
    assert (doctor.code, "leader" in checks, checks["store"]["ok"]) == (0, False, True)
