"""Witness trust: what the witness of a node proves, and when a free one means death.

A node holds its witness in the store for as long as its process lives (`ports.witness`). A free
witness is no proof of death: the connection of a living holder may have been cut. So both sides
keep times that cannot overlap while their clocks run at nearly the same rate:

    proved        freed       found free                     found free again: evicted
      |-------------|-----------|---------------------------------|
      |<--- trust: 2W --->| the holder has stopped
                                |<--------- patience: S --------->|

**The holder.** A leader proves its witness every W, and trusts its term for 2W from when it *sent*
the last proof that was answered. A late answer only suspends it: it trusts again after the next
proof, since a session that answers never lost its number. If the session is over, the term is too:
others may have seen the number free, so the node gives the term up and campaigns for another. A
process that is paused proves nothing, and keeps its witness: the TTL of its lease decides.

**The others.** A node that finds a witness free waits for S, and looks again. If it is still free
and the node has sent no heartbeat meanwhile, its process is dead. S counts from the answer of the
first look to the question of the second. S > 2W, so the leader had stopped before it is evicted;
the rest of S is for what it had sent before it stopped. A node that is no leader proves its witness
once a second, and sends a heartbeat at once when it has lost it, so for its jobs S is longer.

**When many have gone since the last look,** the server was probably restarted or replaced, and not
all processes were killed in one moment, unless the store has no server. Then, and also after the
other side has ended one's own session, everybody waits longer, until those who live have taken
their witnesses again.

**A flapping network must not become a flapping leader:** nobody evicts the same node twice within
the TTL of a lease.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from drumbeat.model.errors import UnsafeLease
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.model.ids import NodeId

FEW = 4
"""So many nodes look as often as one; of more, each looks less often."""


@dataclass(frozen=True, slots=True)
class WitnessTimings:
    """The timings of witnesses in seconds. Raises `UnsafeLease` if they do not fit together."""

    prove_every: float = 0.25
    """W: how often a leader proves its witness."""
    idle_every: float = 1.0
    """How often other nodes do."""
    proof_timeout: float = 2.0
    """How long to wait for a proof, until the session is given up."""
    look_every: float = 0.5
    """How often a follower looks for the leader's witness."""
    patience: float = 0.8
    """S: how long a leader's witness has to be free until others evict it."""
    in_flight: float = 0.25
    """What S leaves for requests that the leader sent before it stopped."""
    rescue_every: float = 1.0
    """How often the leader looks for the witnesses of all nodes."""
    rescue_patience: float = 1.5
    """How long a witness has to be free until the jobs of its node go to others."""
    mass_loss_patience: float = 5.0
    """The same when many are gone at once."""
    drift: float = 0.01
    """The share by which the clock of another node may run faster than ours."""

    def __post_init__(self) -> None:
        needed = (self.trust + self.in_flight) * (1 + self.drift)
        if not needed < self.patience:
            raise UnsafeLease(
                f"patience {self.patience:g} s must be longer than {needed:g} s, twice the "
                f"{self.prove_every:g} s between two proofs and {self.in_flight:g} s for requests"
            )
        noticed = self.idle_every * (1 + self.drift)
        if not noticed < self.rescue_patience:
            raise UnsafeLease(
                f"rescue_patience {self.rescue_patience:g} s must be longer than the "
                f"{noticed:g} s in which a node that lives notices that its witness is gone"
            )

    @property
    def trust(self) -> float:
        """2W: for how long a proof is good."""
        return 2 * self.prove_every


@dataclass(frozen=True, slots=True)
class Unwitnessed:
    """Never held: the row of the node has no number, so nobody judges it by a witness."""


@dataclass(frozen=True, slots=True)
class Held:
    """Held by one session since it was taken."""

    number: int
    turn: int
    """How often it was taken, this time included."""
    proved_at: float
    """When the last proof that was answered was sent."""


@dataclass(frozen=True, slots=True)
class Released:
    """Held once and not now: others may see it free."""

    number: int
    turn: int
    """How often it was taken."""
    since: float
    reason: str


WitnessState: TypeAlias = Unwitnessed | Held | Released


def turn_of(state: WitnessState) -> int:
    """By which turn of the witness a term that begins now is judged.

    The first turn covers terms that began before the node had a number, since nobody could have
    seen that one free.
    """
    return max(1, 0 if isinstance(state, Unwitnessed) else state.turn)


def may_act(state: WitnessState, turn: int, now: float, timings: WitnessTimings) -> bool:
    """Whether a leader may trust its term, as far as its witness tells."""
    match state:
        case Unwitnessed():
            return True
        case Held():
            return state.turn == turn and now < state.proved_at + timings.trust
        case Released():
            return False


def is_over(state: WitnessState, turn: int) -> str | None:
    """Why a term has to be given up: its witness was free for a while; None: it was not."""
    match state:
        case Unwitnessed():
            return None
        case Held():
            return None if state.turn == turn else "its witness in the store was lost for a while"
        case Released():
            return f"its witness in the store was lost: {state.reason}"


@dataclass(frozen=True, slots=True)
class Look:
    """A look at all witnesses, by our own clock."""

    check: WitnessCheck
    asked_at: float
    answered_at: float
    before: frozenset[Vanished] = frozenset()
    """Who was gone at the look before."""
    freed_together: bool = True
    """Whether the store can free all witnesses at once while their holders live."""

    @property
    def new(self) -> int:
        """How many have gone since the look before."""
        return sum(each not in self.before for each in self.check.vanished)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Since when a witness is known to be free, and how long that has to last."""

    since: float
    patience: float


Suspicions: TypeAlias = Mapping[Vanished, Suspicion]


def patience_at(look: Look, usual: float, lost_at: float, timings: WitnessTimings) -> float:
    """How long to wait after this look; `lost_at` is when our own session was ended last."""
    many = look.freed_together and look.new > 1 and 2 * look.new > look.check.expected
    recently = look.answered_at - lost_at < timings.mass_loss_patience
    return max(usual, timings.mass_loss_patience) if many or recently else usual


def suspected(before: Suspicions, look: Look, patience: float) -> Suspicions:
    """The suspicions after a look: earlier ones of nodes that are still gone, and new ones."""
    after: dict[Vanished, Suspicion] = {}
    for each in look.check.vanished:
        old = before.get(each, Suspicion(look.answered_at, patience))
        after[each] = Suspicion(old.since, max(old.patience, patience))
    return after


def dead(suspicions: Suspicions, look: Look) -> Sequence[Vanished]:
    """Whose process has ended: who was gone at this look, for long enough."""
    return [
        each
        for each, suspicion in suspicions.items()
        if look.asked_at - suspicion.since >= suspicion.patience
    ]


def next_look(suspicions: Suspicions, now: float, usual: float) -> float:
    """In how many seconds to look again: at the latest when a suspicion can be confirmed."""
    ends = [each.since + each.patience - now for each in suspicions.values()]
    return max(0.0, min([usual, *(end for end in ends if end > 0)]))


def look_every(expected: int, timings: WitnessTimings) -> float:
    """How often one of so many nodes looks: the whole fleet costs the store about the same."""
    return timings.look_every * max(1.0, expected / FEW)


def may_evict(node: NodeId, evicted: Mapping[NodeId, float], now: float, ttl: float) -> bool:
    """Whether a node may be evicted: never twice within a TTL, as far as we know."""
    return now - evicted.get(node, -inf) >= ttl
