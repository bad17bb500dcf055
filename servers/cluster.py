"""A cluster of several servers; each operation applies to all members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, Self, TypeVar

from servers.closeable import Closeable
from servers.server import Server

Member = TypeVar("Member", bound=Server)


class Cluster(Closeable, Generic[Member]):
    """Several servers that form one service."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = list(members)

    @property
    @abstractmethod
    def address(self) -> str:
        """Its URL for Drumbeat."""

    @property
    def port(self) -> int:
        """The port of its first member."""
        return self.members[0].port

    @property
    def folder(self) -> Path:
        """The folder of its first member."""
        return self.members[0].folder

    def log(self) -> str:
        """The concatenated logs of all members."""
        return "\n".join(f"--- {member.name} ---\n{member.log()}" for member in self.members)

    def kill(self) -> None:
        """Kill all members at the same moment."""
        self.pause()
        for member in self.members:
            member.kill()

    def pause(self) -> None:
        """Suspend all members."""
        for member in self.members:
            member.pause()

    def resume(self) -> None:
        """Resume all members."""
        for member in self.members:
            member.resume()

    def stop(self) -> None:
        """Stop all members gracefully."""
        for member in self.members:
            member.stop()

    def start_again(self) -> None:
        """Start the stopped members with the same ports and data. Waits until all answer."""
        self._start(self.members)

    def restart_empty(self) -> None:
        """Start all members after a kill or a stop with the same ports and without data."""
        for member in self.members:
            member.empty()
        self.start_again()

    def close(self) -> None:
        """Stop all members and remove their folders."""
        for member in self.members:
            member.close()

    def begin(self) -> Self:
        """Initialise and start all members. Cleans up if that fails."""
        try:
            for member in self.members:
                member.fill()
            self.start_again()
        except BaseException:
            self.kill()
            self.close()
            raise
        return self

    def _start(self, members: Sequence[Member]) -> None:
        for member in members:
            if not member.running:
                member.launch()
        for member in members:
            member.wait_until_ready()
