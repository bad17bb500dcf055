"""An app path that does not load is answered with the real error, and where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .support import Answer, run

Load = Callable[..., Answer]
SHOP = 'from drumbeat import Drumbeat\napp = Drumbeat("memory://")\n'


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Load:
    """Write a module of a name of its own, and ask for the app in it."""
    monkeypatch.chdir(tmp_path)
    name = f"module_{abs(hash(request.node.name))}"

    def loaded(code: str, *options: str) -> Answer:
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        return run("--app", f"{name}:app", *options, "queue")

    return loaded


@pytest.mark.parametrize(
    ("code", "sentence", "line"),
    [
        ("\nimport not_there_at_all\n", "ModuleNotFoundError: No module named 'not_there", 2),
        ("x = 1\nraise RuntimeError('no luck')\n", "RuntimeError: no luck", 2),
        ("def broken(:\n", "SyntaxError: invalid syntax", 1),
        ("from drumbeat import Drumbeat\n\napp = Drumbeat('pigeon://x')\n", "no store is known", 3),
        ("import json\n\njson.loads('pigeon')\n", "JSONDecodeError", 3),
        (
            SHOP + '@app.scheduled("61 * * * *")\ndef x(): ...\n',
            "cron '61 * * * *': minute: '61' is out of range",
            3,
        ),
        (SHOP + "\napp.run()\n", 'put what starts it under `if __name__ == "__main__":`', 4),
        (SHOP + "\napp.start_in_background()\n", "a command imports its module", 4),
        (
            SHOP
            + "import asyncio\nasync def main():\n    await app.start()\nasyncio.run(main())\n",
            "a command imports its module",
            5,
        ),
        (
            SHOP + '@app.scheduled("@daily", window=None)\ndef x(): ...\n',
            "window: None is not a duration",
            3,
        ),
        (
            SHOP + '@app.scheduled("@daily", start_at="2026-01-01")\ndef x(): ...\n',
            "start_at must be a datetime, not '2026-01-01'",
            3,
        ),
        (
            'from drumbeat import Drumbeat\n\napp = Drumbeat("memory://", elector=None)\n',
            "elector must be an object with `async def is_leader",
            3,
        ),
    ],
)
def test_an_app_that_does_not_import_shows_the_error_and_its_line(
    load: Load, code: str, sentence: str, line: int
) -> None:
    answer = load(code)
    assert (answer.code, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 1
    assert sentence in answer.err
    assert answer.err.rstrip().endswith(f".py:{line}")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("x = 1\n", "has no 'app'"),
        ("app = 7\n", ":app is a int, not a Drumbeat app"),
        (
            "from drumbeat import Drumbeat\nshop = Drumbeat('memory://')\n",
            "has no 'app'; it has module_",
        ),
    ],
)
def test_a_module_without_the_app_says_what_it_has(load: Load, code: str, sentence: str) -> None:
    answer = load(code)
    assert answer.code == 2
    assert sentence in answer.err


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no_such_module_here:app", "no module is named 'no_such_module_here' in "),
        ("jobs.py", "'jobs.py' is not an app path; write MODULE:NAME"),
        ("../jobs:app", "'../jobs:app' is not an app path"),
        ("", "'' is not an app path"),
    ],
)
def test_a_path_that_leads_nowhere_is_one_sentence(path: str, sentence: str) -> None:
    answer = run("--app", path, "queue")
    assert answer.code == 2
    assert sentence in answer.err


def test_a_bad_setting_of_the_command_line_is_not_blamed_on_the_code(load: Load) -> None:
    answer = load("from drumbeat import Drumbeat\napp = Drumbeat()\n", "--namespace", "my app")
    assert answer.code == 2
    assert answer.err.endswith("(given by command line --namespace)\n")


def test_an_app_that_names_no_store_has_the_file_of_development(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRUMBEAT_SERVER", raising=False)
    (tmp_path / "shop_of_no_store.py").write_text(
        "from drumbeat import Drumbeat\napp = Drumbeat()\n", encoding="utf-8"
    )
    path = ("--app", "shop_of_no_store:app")
    assert "no store is named" in run(*path, "job", "list").err
    assert run("--store", "sqlite:///drumbeat.db", "db", "migrate").code == 0
    assert "no store is named" in run("run", *path[1:]).err  # nobody runs a node there by accident
    assert run(*path, "job", "list").out == "There are no such jobs.\n"
