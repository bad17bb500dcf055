"""Steps: what a fleet may ask of a coordinator, as values, and who does the same to two of them.

Tokens and revisions differ between coordinators, so an answer is compared by what it stands for:
the first term, the second, ... and the first write, the second, ... What the numbers themselves
have to keep is checked as they come: they rise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import strategies as st

from drumbeat.model.fleet.lease import Entry, Lease
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import ANNE, BERT, node

CARL = NodeId("carl:0000000000000003")
STRANGER = NodeId("stranger:0000000000000009")
NAMES = ("scheduler", "lock/door")
CANDIDATES = (ANNE, BERT, CARL)
KEYS = ("color", "size/door")


@dataclass(frozen=True)
class Acquire:
    name: str
    candidate: NodeId


@dataclass(frozen=True)
class Renew:
    term: int
    """Counted back from the last that was granted: old ones are tried too."""


@dataclass(frozen=True)
class Release:
    term: int


@dataclass(frozen=True)
class Forge:
    """Renew and release what was never granted: another's name on a term, or another number."""

    term: int
    by: int
    """What is added to its token; 0: the holder is a stranger."""


@dataclass(frozen=True)
class Current:
    name: str


@dataclass(frozen=True)
class Register:
    node: NodeId
    busy: int


@dataclass(frozen=True)
class Deregister:
    node: NodeId


@dataclass(frozen=True)
class Nodes:
    pass


@dataclass(frozen=True)
class Get:
    key: str


@dataclass(frozen=True)
class Put:
    key: str
    value: bytes


@dataclass(frozen=True)
class CompareAndSet:
    key: str
    value: bytes | None
    write: int
    """Which write of the key it compares with, counted back; 0 stands for none at all."""


@dataclass(frozen=True)
class Expire:
    """Let so much time pass that whatever was not renewed is over."""


@dataclass(frozen=True)
class HalfATerm:
    """Let so much time pass that what is renewed now outlives what is not."""


@dataclass(frozen=True)
class RaceToAcquire:
    """All candidates want one name at once, over several connections."""

    name: str


@dataclass(frozen=True)
class RaceToWrite:
    """Several compare-and-sets start from one revision at once."""

    key: str


places = st.integers(1, 4)
names = st.sampled_from(NAMES)
values = st.sampled_from([b"", b"red", b"\x00\xff"])
sequential = st.one_of(
    st.builds(Acquire, names, st.sampled_from(CANDIDATES)),
    st.builds(Acquire, names, st.sampled_from(CANDIDATES)),
    st.builds(Renew, places),
    st.builds(Renew, places),
    st.builds(Release, places),
    st.builds(Forge, places, st.sampled_from([-10_000, 0, 10_000])),
    st.builds(Current, names),
    st.builds(Register, st.sampled_from(CANDIDATES), st.integers(0, 2)),
    st.builds(Deregister, st.sampled_from(CANDIDATES)),
    st.just(Nodes()),
    st.builds(Get, st.sampled_from(KEYS)),
    st.builds(Put, st.sampled_from(KEYS), values),
    st.builds(CompareAndSet, st.sampled_from(KEYS), values | st.none(), st.integers(0, 3)),
)
races = st.builds(RaceToAcquire, names) | st.builds(RaceToWrite, st.sampled_from(KEYS))
timeless: st.SearchStrategy[Sequence[object]] = st.lists(
    sequential | sequential | races, min_size=4, max_size=14
)
"""Steps between which no time passes that matters."""


class Driver:
    """Does to a coordinator what another driver does to another."""

    def __init__(self, coordinators: Sequence[Coordinator], ttl: timedelta) -> None:
        self._coordinators = coordinators
        self._turn = 0
        self._ttl = ttl
        self._terms: list[Lease] = []
        self._writes: list[Entry] = []

    @property
    def coordinator(self) -> Coordinator:
        """Another handle each time: they share one truth."""
        self._turn += 1
        return self._coordinators[self._turn % len(self._coordinators)]

    async def do(self, step: object) -> object:
        """What came of it, in words that all coordinators share."""
        match step:
            case Acquire():
                return self.term(await self.acquire(step.name, step.candidate))
            case Renew() | Release() | Forge() | Current():
                return await self._lease(step)
            case Register() | Deregister() | Nodes():
                return await self._registry(step)
            case Get() | Put() | CompareAndSet():
                return await self._configuration(step)
            case _:
                raise AssertionError(step)

    async def acquire(self, name: str, candidate: NodeId) -> Lease | None:
        return await self.coordinator.leases.acquire(name, candidate, self._ttl)

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> Entry | None:
        return await self.coordinator.configuration.compare_and_set(key, value, revision)

    async def revision(self, key: str) -> int:
        entry = await self.coordinator.configuration.get(key)
        return entry.revision if entry is not None else 0

    def term(self, lease: Lease | None) -> object:
        """Which term of all it is. A new one has a token above every earlier one of its name."""
        if lease is None:
            return None
        if lease not in self._terms:
            earlier = [each.token for each in self._terms if each.name == lease.name]
            assert lease.token > max(earlier, default=0), "tokens rise"
            assert {each.domain for each in self._terms} <= {lease.domain}, "of one domain"
            assert lease.ttl == self._ttl
            self._terms.append(lease)
        return self._terms.index(lease), lease.name, lease.holder

    def write(self, entry: Entry | None) -> object:
        """Which write of all it is. A new one has a revision above the earlier ones of its key."""
        if entry is None:
            return None
        if entry not in self._writes:
            earlier = [each.revision for each in self._writes if each.key == entry.key]
            assert entry.revision > max(earlier, default=0), "revisions rise"
            self._writes.append(entry)
        return self._writes.index(entry), entry.key, entry.value

    async def look(self) -> object:
        """All that there is to see."""
        return [
            *[await self.do(Current(name)) for name in NAMES],
            *[await self.do(Get(key)) for key in KEYS],
            await self.do(Nodes()),
        ]

    async def _lease(self, step: Renew | Release | Forge | Current) -> object:
        leases = self.coordinator.leases
        if isinstance(step, Current):
            return self.term(await leases.current(step.name))
        if len(self._terms) < step.term:
            return None
        lease = self._terms[-step.term]
        match step:
            case Renew():
                return self.term(await leases.renew(lease))
            case Release():
                return await leases.release(lease)
            case Forge():
                holder = lease.holder if step.by else STRANGER
                forged = replace(lease, token=lease.token + step.by, holder=holder)
                return await leases.renew(forged), await leases.release(forged)

    async def _registry(self, step: Register | Deregister | Nodes) -> object:
        registry = self.coordinator.registry
        match step:
            case Register():
                await registry.register(_busy(step.node, step.busy), self._ttl)
            case Deregister():
                await registry.deregister(step.node)
            case Nodes():
                pass
        return list(await registry.nodes())

    async def _configuration(self, step: Get | Put | CompareAndSet) -> object:
        configuration = self.coordinator.configuration
        match step:
            case Get():
                return self.write(await configuration.get(step.key))
            case Put():
                return self.write(await configuration.put(step.key, step.value))
            case CompareAndSet():
                written = [each.revision for each in self._writes if each.key == step.key]
                compared = written[-step.write] if 0 < step.write <= len(written) else 0
                return self.write(
                    await configuration.compare_and_set(step.key, step.value, compared)
                )


def _busy(identity: NodeId, busy: int) -> Node:
    return replace(node(identity), busy=busy)
