"""Detects which processes believe that they lead, and until when."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.rules.leadership.lease_trust import Leading
from simulation.history import Belief
from simulation.loop import Lane
from simulation.process import Process


def new_belief(lane: Lane, processes: Sequence[Process], now: float) -> Belief | None:
    """The new or extended term in which the process of this lane believes, if it has changed."""
    process = lane.owner
    if not isinstance(process, Process) or not process.alive:
        return None
    elector = process.elector
    if elector is None:
        return None
    state, acts = elector.state, _may_act(process)
    if (state, acts) == process.seen:
        return None
    process.seen = (state, acts)
    if not isinstance(state, Leading) or not acts:
        return None
    until = process.machine.clock.true(state.deadline)
    others = tuple(each.name for each in processes if each is not process and _may_act(each))
    return Belief(now, process.name, state.lease, until, others) if until > now else None


def _may_act(process: Process) -> bool:
    elector = process.elector
    return (
        elector is not None
        and isinstance(elector.state, Leading)
        and elector.may_act(elector.state.lease)
    )
