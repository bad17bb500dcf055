"""The login throttle: limits invalid credentials by address."""

from __future__ import annotations

from drumbeat.api.http.problem import Problem
from drumbeat.ports.clock import Clock

ALLOWED = 10
"""Failures that one address may have within a second."""
WINDOW = 1.0
MOST_ADDRESSES = 10_000


class LoginThrottle:
    """Failed authentications by address, within the last second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[float, int]] = {}
        """Since when, and how many."""

    def check(self, address: str) -> None:
        """Raise a `Problem` if the address has failed too often."""
        since, count = self._failures.get(address, (0.0, 0))
        if count >= ALLOWED and self._clock.elapsed() - since < WINDOW:
            raise Problem(
                429,
                "too-many-attempts",
                f"more than {ALLOWED} attempts failed within a second; wait for a moment",
                headers={"retry-after": "1"},
            )

    def failed(self, address: str) -> None:
        """Count a failure."""
        now = self._clock.elapsed()
        since, count = self._failures.get(address, (now, 0))
        if now - since >= WINDOW:
            since, count = now, 0
        if len(self._failures) >= MOST_ADDRESSES and address not in self._failures:
            self._forget(now)
        self._failures[address] = (since, count + 1)

    def _forget(self, now: float) -> None:
        recent = {
            address: failure
            for address, failure in self._failures.items()
            if now - failure[0] < WINDOW
        }
        self._failures = recent if len(recent) < MOST_ADDRESSES else {}
