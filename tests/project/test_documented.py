"""The docs name every error, event, setting and public name."""

import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from drumbeat.model import errors, events

DOCS = Path(__file__).parents[2] / "docs"


def module(name: str) -> ModuleType:
    """Import a module in the test, so that a missing one fails only the tests that need it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        return pytest.fail(f"{name} cannot be imported: {missing}")


def page(name: str) -> str:
    path = DOCS / name
    assert path.exists(), f"docs/{name} is not written"
    return path.read_text(encoding="utf-8")


def undocumented(names: Sequence[str], text: str) -> list[str]:
    """The names that the text never shows as code, such as `StaleEpoch`."""
    return [name for name in names if not re.search(rf"`{re.escape(name)}(\(\S*\))?`", text)]


def classes_of(name: str) -> list[str]:
    defined = inspect.getmembers(module(name), inspect.isclass)
    return [label for label, thing in defined if f"{thing.__module__}.".startswith(f"{name}.")]


def error_names() -> list[str]:
    return classes_of(errors.__name__)


def event_names() -> list[str]:
    return classes_of("drumbeat.model.events")


@pytest.mark.parametrize("name", event_names())
def test_every_event_is_documented_with_its_attributes(name: str) -> None:
    attributes = [each.name for each in dataclasses.fields(getattr(events, name))]
    row = next(line for line in page("events.md").splitlines() if line.startswith(f"| `{name}` |"))
    assert undocumented(attributes, row) == []


def setting_names() -> list[str]:
    return [setting.name for setting in dataclasses.fields(module("drumbeat.config").Config)]


def public_names() -> list[str]:
    names: Sequence[str] | None = getattr(module("drumbeat"), "__all__", None)
    assert names is not None, "drumbeat/__init__.py does not say what is public: it has no __all__"
    return list(names)


@pytest.mark.parametrize(
    ("listing", "where"),
    [
        pytest.param(error_names, "errors.md", id="errors"),
        pytest.param(event_names, "events.md", id="events"),
        pytest.param(setting_names, "settings.md", id="settings"),
        pytest.param(public_names, "reference.md", id="public names"),
    ],
)
def test_everything_is_named_in_its_page(listing: Callable[[], list[str]], where: str) -> None:
    names = listing()
    assert names
    assert undocumented(names, page(where)) == []


@pytest.mark.parametrize(
    ("listing", "where"),
    [
        pytest.param(error_names, "errors.md", id="errors"),
        pytest.param(event_names, "events.md", id="events"),
    ],
)
def test_a_page_lists_nothing_that_is_gone(listing: Callable[[], list[str]], where: str) -> None:
    listed = re.findall(r"^\| `(\w+)` \|", page(where), re.MULTILINE)
    assert listed
    assert sorted(set(listed) - set(listing())) == []


def test_a_name_inside_another_name_does_not_count() -> None:
    assert undocumented(["Cancel"], "`CancelRequested` and Cancel") == ["Cancel"]
    assert undocumented(["Cancel"], "raise `Cancel(reason)`") == []


def test_the_tree_in_the_errors_module_shows_every_error() -> None:
    tree = errors.__doc__ or ""
    assert [name for name in error_names() if not re.search(rf"\b{name}\b", tree)] == []
