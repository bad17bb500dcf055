"""The backend guard: which backends the apps of this process may use.

A production process has none, and may use all of them. In tests the pytest plugin sets one, so that
no test reaches a real store because a setting or a module names it. The plugin does so in every
project that has Drumbeat installed, so this module imports nothing else.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")


class BackendGuard(Protocol):
    """Refuses the use of real backends."""

    @property
    def refuses(self) -> bool:
        """Whether real backends are refused just now."""
        ...

    def guarded(self, backend: T, named: str) -> T:
        """The backend, each call of which raises `ConfigurationError` while the guard refuses.

        `named` is how the error names the backend: "the store ..., given by ...".
        """
        ...

    def missing(self, backend: T, problem: str) -> T:
        """A backend in place of one that nothing names: each call raises the problem, always."""
        ...


_guard: BackendGuard | None = None


def backend_guard() -> BackendGuard | None:
    """The guard of this process; None: every backend may be used."""
    return _guard


def set_backend_guard(guard: BackendGuard | None) -> None:
    """Set or remove the guard, for the backends that are made from now on."""
    global _guard  # noqa: PLW0603 - there is one process
    _guard = guard
