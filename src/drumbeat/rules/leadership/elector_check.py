"""Checks whether an object can serve as a user's elector."""

from __future__ import annotations

import inspect

from drumbeat.model.errors import ConfigurationError

SHAPE = "an object with `async def is_leader(self) -> bool`"


def require_elector(candidate: object) -> None:
    """Raise `ConfigurationError` if the object is not an elector.

    A synchronous `is_leader` is rejected on purpose: it would run on the event loop, where a call
    to a server blocks every job of the node.
    """
    fault = _fault(candidate)
    if fault is not None:
        raise ConfigurationError(fault)


def require_answer(answer: object, candidate: object) -> bool:
    """The answer of an elector; `TypeError` for anything but True and False."""
    if not isinstance(answer, bool):
        raise TypeError(
            f"is_leader() of {type(candidate).__name__} must return True or False, not {answer!r}"
        )
    return answer


def _fault(candidate: object) -> str | None:
    if candidate is None:
        return f"elector must be {SHAPE}, not None; leave it out to elect by the coordinator"
    if isinstance(candidate, type):
        name = candidate.__name__
        return f"elector must be an instance, not the class {name}; write {name}() instead"
    question = getattr(candidate, "is_leader", None)
    name = type(candidate).__name__
    if question is None:
        return f"elector must be {SHAPE}, not {candidate!r}"
    if not callable(question):
        return f"is_leader of the elector {name} must be a method, not {question!r}"
    if not _is_asynchronous(question):
        return f"is_leader of the elector {name} must be asynchronous; write `async def is_leader`"
    if not _takes_nothing(question):
        return f"is_leader of the elector {name} must take no arguments besides self"
    return None


def _is_asynchronous(question: object) -> bool:
    if inspect.iscoroutinefunction(inspect.unwrap(question)):  # type: ignore[arg-type]  # any callable
        return True
    return inspect.iscoroutinefunction(getattr(question, "__call__", None))  # noqa: B004 - its kind


def _takes_nothing(question: object) -> bool:
    try:
        inspect.signature(question).bind()  # type: ignore[arg-type]  # any callable
    except TypeError:
        return False
    except ValueError:  # it has no signature to look at
        return True
    return True
