"""Leases: S7, S8 and S18. Whom the coordinator appointed, and who believed it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import SCHEDULER, Lease
from drumbeat.testing.simulation.checkers.violation import Violation
from drumbeat.testing.simulation.history import Applied, History

UNTRUE = frozenset({"lying coordinator", "coordinator restarted empty"})
"""Under these, the coordinator keeps no promise; what the store promises holds all the same."""


def tokens_rise(history: History) -> Iterator[Violation]:
    """S7: each term has a higher token than every one before it, of the same domain."""
    highest: dict[str, int] = {}
    for said in history.calls("acquire"):
        if isinstance(said.answer, Lease):
            lease = said.answer
            if lease.token <= highest.get(lease.domain, 0):
                text = f"{said.by} was given token {lease.token} after {highest[lease.domain]}"
                yield Violation("S7", said.at, text)
            highest[lease.domain] = max(lease.token, highest.get(lease.domain, 0))


def one_believer(history: History) -> Iterator[Violation]:
    """S8: no two nodes believe at the same true time that they lead."""
    if UNTRUE & history.kinds or "clock drift" in history.kinds:
        return
    for each in history.believed:
        if each.others:
            others = ", ".join(each.others)
            text = (
                f"{each.by} believes in term {each.lease.token} until {each.until:.3f} s, "
                f"while {others} still believes in its own"
            )
            yield Violation("S8", each.at, text)


def leases_are_linear(history: History) -> Iterator[Violation]:
    """S18: the coordinator's answers are those of one lease, one step after the other."""
    if UNTRUE & history.kinds:
        return
    held: Lease | None = None
    ends_at = 0.0
    for said in history.calls("acquire", "renew", "release"):
        if said.error is not None or _name(said) != SCHEDULER:
            continue
        now = said.server_elapsed
        live = held if held is not None and now < ends_at else None
        should, answer = _should(said, live), said.answer
        if (answer is None or answer is False) == should:
            what = f"{said.by}: {said.call} was answered with {answer!r}; held was {live!r}"
            yield Violation("S18", said.at, what)
        if isinstance(answer, Lease):
            held, ends_at = answer, now + answer.ttl.total_seconds()
        elif answer is True:
            held = None


def _name(said: Applied) -> str:
    first = said.arguments[0]
    return first.name if isinstance(first, Lease) else cast("str", first)


def _should(said: Applied, live: Lease | None) -> bool:
    """Whether the call should be granted."""
    if said.call == "acquire":
        return live is None
    asked = said.arguments[0]
    assert isinstance(asked, Lease)
    return live is not None and _term(live) == _term(asked)


def _term(lease: Lease) -> tuple[NodeId, str, int]:
    return lease.holder, lease.domain, lease.token
