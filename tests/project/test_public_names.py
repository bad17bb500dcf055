"""The public names are a promise: adding or removing one requires a change of this list."""

import inspect
from types import ModuleType

import pytest

import drumbeat
from drumbeat.model import errors, events
from drumbeat.model.errors.root import NamedError

PUBLIC = [
    "Blueprint",
    "Calendar",
    "Cancel",
    "Client",
    "Conflict",
    "Context",
    "Drumbeat",
    "DrumbeatError",
    "Elector",
    "Fail",
    "Forbidden",
    "InvalidCron",
    "InvalidInput",
    "Job",
    "JobFailed",
    "JobFilter",
    "JobSpec",
    "LeaderElection",
    "LockHeld",
    "LockLost",
    "NotFound",
    "NotRunning",
    "PageRequest",
    "Policies",
    "Retry",
    "Schedule",
    "ScheduledTask",
    "Snooze",
    "Status",
    "SyncClient",
    "Task",
    "Trigger",
    "Unauthorised",
    "Unavailable",
    "WaitTimeout",
    "any_of",
    "bounded",
    "cron",
    "current",
    "daily",
    "every",
    "every_between",
    "monthly",
    "once",
    "rate_limit",
    "weekly",
]


def test_the_public_names_are_these_in_order() -> None:
    names: list[str] | None = getattr(drumbeat, "__all__", None)
    assert names is not None, "drumbeat/__init__.py does not say what is public: it has no __all__"
    assert list(names) == PUBLIC


def test_every_public_name_exists() -> None:
    missing = [name for name in PUBLIC if not hasattr(drumbeat, name)]
    assert missing == []


def test_every_public_class_and_function_has_a_docstring() -> None:
    things = {name: getattr(drumbeat, name, None) for name in PUBLIC}
    silent = [
        name
        for name, thing in things.items()
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and not thing.__doc__
    ]
    assert silent == []


def subclasses(root: type) -> set[type]:
    return {root}.union(*map(subclasses, root.__subclasses__()))


@pytest.mark.parametrize(
    ("module", "root"), [(events, events.Event), (errors, errors.DrumbeatError)]
)
def test_every_event_and_error_is_imported_from_its_documented_module(
    module: ModuleType, root: type
) -> None:
    ours = {each for each in subclasses(root) if each.__module__.startswith(module.__name__)}
    ours -= {NamedError}  # only what some of them have in common
    assert len(ours) > 20
    assert {
        each.__name__ for each in ours if getattr(module, each.__name__, None) is not each
    } == set()
