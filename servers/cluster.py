"""A cluster of several servers; each operation applies to all members."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from servers.server import Server

Member = TypeVar("Member", bound=Server)


class Cluster(ABC, Generic[Member]):
    """Several servers that are one."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = list(members)

    @property
    @abstractmethod
    def address(self) -> str:
        """Where Drumbeat finds it."""

    @property
    def port(self) -> int:
        """The port of its first member."""
        return self.members[0].port

    @property
    def folder(self) -> Path:
        """The folder of its first member."""
        return self.members[0].folder

    def log(self) -> str:
        """The logs of all members, one after the other."""
        return "\n".join(f"--- {member.name} ---\n{member.log()}" for member in self.members)

    def kill(self) -> None:
        """Kill all members at one moment."""
        self.pause()
        for member in self.members:
            member.kill()

    def pause(self) -> None:
        """Stop the time of all members."""
        for member in self.members:
            member.pause()

    def resume(self) -> None:
        """Let all members go on."""
        for member in self.members:
            member.resume()

    def stop(self) -> None:
        """Stop all members gracefully."""
        for member in self.members:
            member.stop()

    def start_again(self) -> None:
        """Start the members that do not run: same ports, same data. Waits until all answer."""
        self._start(self.members)

    def restart_empty(self) -> None:
        """Start all members after a kill or a stop: same ports, but they remember nothing."""
        for member in self.members:
            member.empty()
        self.start_again()

    def close(self) -> None:
        """Stop all members and remove their folders."""
        for member in self.members:
            member.close()

    def begin(self) -> Self:
        """Fill and start all members. Leaves nothing behind if that fails."""
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
