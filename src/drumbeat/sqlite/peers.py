"""Peers: the folder of sockets beside a file."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from drumbeat.sqlite.privacy import FILE, FOLDER


class PeerFolder:
    """The folder of sockets beside a file, and a socket to send from."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-peers")
        self._name = str(self._path)
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._handle = -1

    def make(self) -> None:
        """Make it, for its owner only."""
        self._let_go()
        with suppress(FileExistsError):
            self._path.mkdir(mode=FOLDER)
            self._path.chmod(FOLDER)  # a umask may take rights from the owner too
        self._open()

    def bind(self, incoming: socket.socket, peer: str) -> None:
        """Put a socket into it, for its owner only."""
        os.fchmod(incoming.fileno(), FILE)  # it gets these rights at once, less the umask
        incoming.bind(self.address(peer))
        os.chmod(peer, FILE, dir_fd=self._handle)

    def peers(self) -> list[str]:
        """The sockets that are there."""
        if self._handle < 0 and not os.access(self._name, os.F_OK):
            return []  # as at most commits where nobody listens: cheaper than an error
        try:
            if self._handle < 0:
                self._open()
            names = os.listdir(self._handle)  # noqa: PTH208 - names only, at every commit
        except OSError:
            return []
        if not names:
            self._let_go()  # it may be about to go, and another one to come in its place
        return names

    def send(self, peer: str, news: int) -> None:
        """One datagram."""
        self._sender.sendto(bytes((news,)), self.address(peer))

    def address(self, peer: str) -> str:
        """Where a peer's socket is, in few enough characters whatever the folder's own path."""
        return f"/proc/self/fd/{self._handle}/{peer}"

    def remove(self, peer: str) -> None:
        """Clear a socket away."""
        with suppress(OSError):
            os.unlink(peer, dir_fd=self._handle)

    def close(self) -> None:
        """Let go of it; if nobody is left in it, it goes too."""
        self._sender.close()
        self._let_go()
        with suppress(OSError):
            self._path.rmdir()

    def _open(self) -> None:
        """Open the folder, if it is one of ours: anybody may have put another in its place."""
        handle = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            os.close(handle)
            raise PermissionError(f"{self._path} is not for this user alone")
        self._handle = handle

    def _let_go(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
