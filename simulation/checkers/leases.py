"""S7, S8, S18 and S19: whom the coordinator appointed, and who believed it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher, Watcher
from simulation.history import Belief, ExecutedRequest, History, LockUse

UNTRUE = frozenset({"lying coordinator", "coordinator restarted empty"})
"""Under these faults the coordinator keeps no promise; those of the store still hold."""
UNTRUSTED = UNTRUE | {"clock drift", "lying witness"}
"""Under these faults no process can know whether its term is over."""


class TokensRise(ServerWatcher):
    """S7: each term has a higher token than every one before it, of the same domain."""

    calls = frozenset({"acquire"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._highest: dict[str, int] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        if isinstance(step.answer, Lease):
            lease, highest = step.answer, self._highest.get(step.answer.domain, 0)
            if lease.token <= highest:
                text = f"{step.by} was given token {lease.token} after {highest}"
                yield Violation("S7", step.at, text)
            self._highest[lease.domain] = max(lease.token, highest)


class OneBeliever(Watcher[Belief]):
    """S8: no two nodes believe at the same true time that they lead."""

    def see(self, step: Belief) -> Iterator[Violation]:
        if step.others and not UNTRUSTED & self.history.kinds:
            others = ", ".join(step.others)
            text = (
                f"{step.by} believes in term {step.lease.token} until {step.until:.3f} s, "
                f"while {others} still believes in its own"
            )
            yield Violation("S8", step.at, text)


class LeasesAreLinear(ServerWatcher):
    """S18: the coordinator's answers are those of a sequential lease."""

    calls = frozenset({"acquire", "renew", "release", "evict"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._held: dict[str, tuple[Lease, float]] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        if step.error is not None or UNTRUE & self.history.kinds:
            return
        name, now, answer = _name(step), step.server_elapsed, step.answer
        held = self._held.get(name)
        live = held[0] if held is not None and now < held[1] else None
        if (answer is None or answer is False) == _is_grantable(step, live):
            what = f"{step.by}: {step.call} was answered with {answer!r}; held was {live!r}"
            yield Violation("S18", step.at, what)
        if isinstance(answer, Lease):
            self._held[name] = (answer, now + answer.ttl.total_seconds())
        elif answer is True:
            del self._held[name]


class OneHolder(Watcher[LockUse]):
    """S19: no process works under a lock that another trusts at the same true time."""

    def see(self, step: LockUse) -> Iterator[Violation]:
        if step.others and not UNTRUSTED & self.history.kinds:
            others = ", ".join(step.others)
            text = f"{step.by} works under lock {step.name!r} by {step.token}, and so may {others}"
            yield Violation("S19", step.at, text)


def _name(request: ExecutedRequest) -> str:
    first = request.arguments[0]
    return first.name if isinstance(first, Lease) else cast("str", first)


def _is_grantable(request: ExecutedRequest, live: Lease | None) -> bool:
    if request.call == "acquire":
        return live is None
    asked = request.arguments[0]
    assert isinstance(asked, Lease)
    return live is not None and _term(live) == _term(asked)


def _term(lease: Lease) -> tuple[NodeId, str, int]:
    return lease.holder, lease.domain, lease.token
