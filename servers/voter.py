"""A voter: a member of a cluster that decides by majority, and has a leader."""

from __future__ import annotations

import socket
import time
from abc import abstractmethod
from collections.abc import Sequence

from servers.cluster import Cluster
from servers.server import Broken, Server

PATIENCE = 120.0
PAUSE = 0.02


class Voter(Server):
    """One member; it is ready only together with a majority."""

    def __init__(self) -> None:
        super().__init__()
        self.voters: Sequence[Voter] = [self]

    @abstractmethod
    def leads(self) -> bool:
        """Whether it is the leader, as far as it knows; an OSError if it does not answer."""

    @abstractmethod
    def _decides(self) -> bool:
        """Ask it something that takes a majority."""

    def _answers(self) -> bool:
        running = sum(voter.running for voter in self.voters)
        if running > len(self.voters) // 2:
            return self._decides()
        # Alone it answers nobody. That it listens is all that can be had.
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True


class Electorate(Cluster[Voter]):
    """A cluster that decides by majority."""

    def __init__(self, members: Sequence[Voter]) -> None:
        super().__init__(members)
        for member in self.members:
            member.voters = self.members

    def leader(self) -> Voter:
        """The member that leads. Waits for the end of an election."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for member in self.members:
                if member.running and _leads(member):
                    return member
            time.sleep(PAUSE)
        raise Broken(f"{self.address} has no leader after {PATIENCE:g} s. Its logs:\n{self.log()}")


def _leads(member: Voter) -> bool:
    try:
        return member.leads()
    except OSError:
        return False
