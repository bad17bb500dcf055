"""Task handles as people look at them, and as notebooks make them."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

from drumbeat import Context, Drumbeat
from drumbeat.model.errors import DuplicateSchedule, DuplicateTask

app = Drumbeat("memory://", environment={})


@app.task
async def greet(ctx: Context, name: str, times: int = 1) -> str:
    """Greet somebody, as often as you like."""
    return name * times


@app.task
def undocumented(number: int) -> int:
    return number


def test_help_shows_the_signature_and_the_documentation_of_the_handler() -> None:
    shown = pydoc.plain(pydoc.render_doc(greet))
    assert "greet(ctx: 'Context', name: 'str', times: 'int' = 1) -> 'str'" in shown
    assert "Greet somebody, as often as you like." in shown
    assert "undocumented(number: 'int') -> 'int'" in pydoc.plain(pydoc.render_doc(undocumented))


def test_a_task_has_the_name_and_the_signature_of_its_handler() -> None:
    assert vars(greet)["__name__"] == "greet"
    assert greet.__module__ == __name__
    assert str(inspect.signature(greet)) == str(inspect.signature(greet.handler))
    assert repr(greet) == "<Task 'greet'>"


def test_a_task_is_the_same_as_an_attribute_of_a_class() -> None:
    class Shop:
        greet = greet

    assert Shop.greet is Shop().greet is greet


def cell(source: str, names: dict[str, Any]) -> None:
    """Run a cell of a notebook."""
    exec(source, names)


@pytest.fixture
def notebook() -> dict[str, Any]:
    return {"__name__": "__main__", "app": Drumbeat("memory://", environment={})}


class TestANotebook:
    def test_whose_cell_is_run_again_has_the_new_task(self, notebook: dict[str, Any]) -> None:
        cell("@app.task(aliases=('old',))\ndef work(): return 1", notebook)
        cell("@app.task(aliases=('old',))\ndef work(): return 2", notebook)
        app: Drumbeat = notebook["app"]
        assert app.task_named("work")() == app.task_named("old")() == 2
        assert app.tasks == {"work"}

    def test_whose_cell_is_run_again_has_the_new_schedule(self, notebook: dict[str, Any]) -> None:
        app: Drumbeat = notebook["app"]
        cell("@app.scheduled('@hourly')\ndef work(): ...", notebook)
        cell("@app.scheduled('@daily')\ndef work(): ...", notebook)
        assert "00:00" in app._declared["work"].trigger.describe()
        cell("@app.task\ndef work(): ...", notebook)
        assert "work" not in app._declared

    def test_cannot_give_one_name_to_two_functions(self, notebook: dict[str, Any]) -> None:
        cell("@app.scheduled('@hourly')\ndef work(): ...", notebook)
        with pytest.raises(DuplicateTask):
            cell("@app.task(name='work')\ndef other(): ...", notebook)
        with pytest.raises(DuplicateSchedule):
            cell("@app.scheduled('@daily', name='work')\ndef other(): ...", notebook)


def test_a_module_cannot_register_a_function_twice(notebook: dict[str, Any]) -> None:
    notebook["__name__"] = "shop"
    cell("@app.task\ndef work(): ...", notebook)
    with pytest.raises(DuplicateTask):
        cell("@app.task\ndef work(): ...", notebook)
