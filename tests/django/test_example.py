"""The example project and `manage.py drumbeat`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.django.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_tests_of_the_example_pass_and_leave_nothing_behind(project: Project) -> None:
    told = project.manage("test")
    assert "Ran 3 tests" in told
    assert "OK" in told
    assert not list(project.folder.glob("*.db*"))


def test_the_app_needs_no_migration(project: Project) -> None:
    assert "No changes detected" in project.manage("makemigrations", "--check", "--dry-run")


def test_the_command_knows_the_tasks_of_all_installed_apps(project: Project) -> None:
    told = project.manage("drumbeat", "task", "list", "--settings", "config.settings", "-o", "json")
    names = {each["name"] for each in json.loads(told)}
    assert names == {"count_orders", "forget_old_orders", "send_receipt"}


def test_errors_and_exit_codes_are_those_of_the_command_line(project: Project) -> None:
    project.manage("drumbeat", "db", "migrate")
    assert "no command is named 'jbo'; did you mean 'job'?" in project.manage(
        "drumbeat", "jbo", code=2
    )
    assert "77" in project.manage("drumbeat", "job", "show", "77", code=3)
    assert "drumbeat run" in project.manage("drumbeat", "--help")


def test_a_project_runs_jobs_and_schedules(project: Project) -> None:
    project.manage("migrate", "-v0")
    with project.managing("drumbeat", "run", "--concurrency", "2") as worker:
        worker.says("Scheduler started successfully")
        project.manage("shell", "-c", "from shop.tasks import *; Order.objects.create(item='tea')")
        told = project.manage("drumbeat", "job", "submit", "send_receipt", "order_id=1", "--wait")
        assert "Receipt for tea" in told
        listed = project.manage("drumbeat", "schedule", "list")
        assert "forget_old_orders" in listed
    with sqlite3.connect(project.folder / "shop.sqlite3") as connection:
        assert connection.execute("SELECT text FROM shop_receipt").fetchall() == [
            ("Receipt for tea",)
        ]
    connection.close()


def test_options_count_also_if_the_app_exists_before_they_are_read(project: Project) -> None:
    models = project.folder / "shop" / "models.py"  # makes the app while Django is loading
    models.write_text(f"{models.read_text()}\n\nfrom drumbeat.django import app\n")
    store = f"sqlite:///{project.folder}/other.db"
    project.manage("drumbeat", "db", "migrate", "--store", store)
    assert (project.folder / "other.db").exists()
    assert not (project.folder / "drumbeat.db").exists()
    with project.managing("drumbeat", "run", "--store", store, "--instance-id", "seven") as node:
        node.says("instance_id=seven")


def test_another_command_can_call_it(project: Project) -> None:
    code = "from django.core.management import call_command as call; call('drumbeat', {!r}, {!r})"
    assert "send_receipt" in project.manage("shell", "-c", code.format("task", "list"))
    told = project.manage("shell", "-c", code.format("job", "jump"), code=2)
    assert "CommandError: drumbeat job jump failed" in told


def test_a_broken_module_of_tasks_is_named(project: Project) -> None:
    (project.folder / "shop" / "tasks.py").write_text("import absent_module\n")
    told = project.manage("drumbeat", "run", code=2)
    assert "module 'shop.tasks' of include cannot be imported" in told
    assert "absent_module" in told


def test_a_handler_in_a_process_has_djangos_apps(project: Project) -> None:
    tasks = project.folder / "shop" / "tasks.py"
    text = tasks.read_text()
    first = text.index("from drumbeat.django import")
    tasks.write_text(  # models before Drumbeat, as some sort their imports
        text[:first].replace("from datetime", "from shop.models import Order\nfrom datetime")
        + text[first:]
        + "\n\n@task(process=True)\ndef count() -> int:\n    return Order.objects.count()\n"
    )
    project.manage("migrate", "-v0")
    with project.managing("drumbeat", "run") as worker:
        worker.says("Scheduler started successfully")
        told = project.manage("drumbeat", "job", "submit", "count", "--wait", "-o", "json")
        assert '"result": 0' in told
