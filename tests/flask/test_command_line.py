"""`flask drumbeat ...`: the command line with the app of a site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask
from flask.cli import FlaskGroup

from drumbeat.flask import FlaskDrumbeat

SHOP = """
from flask import Flask, current_app

from drumbeat.flask import FlaskDrumbeat

drumbeat = FlaskDrumbeat("sqlite:///drumbeat.db")


@drumbeat.task
def send_receipt(order_id: int) -> str:
    return f"{current_app.config['SHOP']}: receipt {order_id}"


def create_app() -> Flask:
    site = Flask(__name__)
    site.config["SHOP"] = "Tea"
    drumbeat.init_app(site)
    return site


def create_bare() -> Flask:
    return Flask("bare")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


def flask(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flask", "--app", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_site_that_a_factory_makes_runs_its_jobs(folder: Path) -> None:
    submitted = flask(folder, "shop", "drumbeat", "job", "submit", "send_receipt", "order_id=42")
    assert submitted.returncode == 0, submitted.stderr
    worked = flask(folder, "shop", "drumbeat", "worker", "--burst", "--concurrency", "1")
    assert worked.returncode == 0, worked.stderr
    assert flask(folder, "shop", "drumbeat", "job", "result", "1").stdout == '"Tea: receipt 42"\n'


def test_options_and_exit_codes_are_those_of_the_command_line(folder: Path) -> None:
    shown = flask(folder, "shop:create_app()", "drumbeat", "worker", "--help")
    assert "--burst" in shown.stdout
    wrong = flask(folder, "shop", "drumbeat", "run", "--concurrency", "many")
    assert (wrong.returncode, "command line --concurrency" in wrong.stderr) == (2, True)


def test_a_site_without_drumbeat_says_what_is_missing(folder: Path) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "drumbeat", "--app", "drumbeat.flask.site:app", "task", "list"],
        cwd=folder,
        env={"FLASK_APP": "shop:create_bare"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert asked.returncode == 2
    assert "'bare' has no Drumbeat: call init_app(site)" in asked.stderr


def test_a_command_line_of_its_own_names_ours(capsys: pytest.CaptureFixture[str]) -> None:
    def create_app() -> Flask:
        site = Flask("shop")
        FlaskDrumbeat("memory://", environment={}).init_app(site)
        return site

    with pytest.raises(SystemExit, match="2"):
        FlaskGroup(create_app=create_app).main(["drumbeat", "run"])
    assert "use `drumbeat --app MODULE:NAME`" in capsys.readouterr().err
