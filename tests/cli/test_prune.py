"""`drumbeat schedule prune`: schedules that code no longer declares."""

from __future__ import annotations

from typing import cast

from drumbeat import every
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.testing import inside

from .support import Terminal, run


def terminal_with_leftovers(terminal: Terminal) -> Terminal:
    """A store with schedules of code that was rewritten since, of another app and of a person."""
    app = terminal.app

    async def stored() -> None:
        await app.schedules.declare(inside.declared(app))

    greet = app.task_named("greet")
    app.schedule(greet, every(hours=1), name="greeting")
    app.schedule(greet, every(hours=2), name="edited")

    @app.scheduled(every(hours=3))
    async def elsewhere() -> None: ...

    terminal.do(stored())
    state = inside.setup(app)
    declared = cast("dict[str, Schedule]", state.declared)
    for name in ("greeting", "edited", "elsewhere"):
        del declared[name]
    state.registry.names -= {"elsewhere"}
    state.registry.runnable -= {"elsewhere"}
    terminal("schedule", "edit", "edited", "--every", "5h")
    terminal("schedule", "create", "by-hand", "--task", "greet", "--every", "1h")
    return terminal


def test_what_code_no_longer_declares_is_listed_and_then_removed(terminal: Terminal) -> None:
    leftovers = terminal_with_leftovers(terminal)
    listed = leftovers("schedule", "list").out
    assert [line.split()[0] for line in listed.splitlines() if "undeclared" in line] == ["greeting"]
    dry = leftovers("schedule", "prune", "-o", "json")
    assert dry.data == {
        "schedules": ["greeting"],
        "unknown_tasks": ["elsewhere"],
        "removed": False,
    }
    assert "Not removed: elsewhere." in dry.err
    assert leftovers("schedule", "show", "greeting").code == 0
    assert "1 schedule removed" in leftovers("schedule", "prune", "--apply").out
    assert leftovers("schedule", "show", "greeting").code == 3
    for name in ("elsewhere", "edited", "by-hand", "nightly"):
        assert leftovers("schedule", "show", name).code == 0
    assert "There is nothing to remove." in leftovers("schedule", "prune").out


def test_schedules_of_unknown_tasks_are_removed_only_if_that_is_said(terminal: Terminal) -> None:
    leftovers = terminal_with_leftovers(terminal)
    answer = leftovers("schedule", "prune", "--unknown-tasks", "--apply", "--reason", "moved")
    assert answer.code == 0, answer.err
    assert leftovers("schedule", "show", "elsewhere").code == 3
    audit = leftovers("audit", "-o", "json").data
    removed = {entry["target"] for entry in audit if entry["action"] == "schedule.delete"}
    assert removed == {"greeting", "elsewhere"}


def test_without_code_nothing_is_pruned(at_the_store: Terminal) -> None:
    assert run("--store", "sqlite:///some.db", "db", "migrate").code == 0
    answer = run("--store", "sqlite:///some.db", "schedule", "prune", "--apply")
    assert (answer.code, answer.out) == (2, "")
    assert "name an app that has tasks" in answer.err
