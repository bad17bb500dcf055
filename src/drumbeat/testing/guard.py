"""The guard of the tests: no test reaches a real backend, unless it says so.

Backends in memory are always allowed. Every other backend is made as usual, for an app is often
made when its module is imported, and stands behind a `GuardedPart`, which asks here before each
call. Nothing is connected before the first call, so a refused backend opens no file and no socket.

A refusal is an error where it happens, and is also remembered: code that survives the error, such
as a thread or a request handler, does not hide it from the plugin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")

ALLOW = (
    "use the fixture `drumbeat`, which gives the app an empty store in memory, or mark the test "
    "with @pytest.mark.drumbeat_real_store if it is meant to use the real one"
)


class RealBackendGuard:
    """Refuses real backends, except while the running test is allowed to use them."""

    def __init__(self) -> None:
        self.refuses = True
        self.refusals: list[str] = []
        """What was refused since the test began."""

    def guarded(self, backend: T, named: str) -> T:
        """The backend, behind a check of this guard."""

        def check() -> None:
            __tracebackhide__ = True
            if self.refuses:
                self._refuse(f"a test may not use {named}: {ALLOW}")

        return _behind(check, backend)

    def missing(self, backend: T, problem: str) -> T:
        """A backend that is never used; the fixture `drumbeat` puts another in its place."""

        def check() -> None:
            __tracebackhide__ = True
            self._refuse(f"{problem}; in a test, {ALLOW}")

        return _behind(check, backend)

    def _refuse(self, sentence: str) -> None:
        from drumbeat.model.errors import ConfigurationError  # noqa: PLC0415 - slow to import

        __tracebackhide__ = True
        self.refusals.append(sentence)
        raise ConfigurationError(sentence)


def _behind(check: Callable[[], None], backend: T) -> T:
    from drumbeat.testing.guarded_part import GuardedPart  # noqa: PLC0415 - as above

    return cast("T", GuardedPart(check, backend))
