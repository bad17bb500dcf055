"""The peer folder: the sockets of all processes that listen, beside the file."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from drumbeat.backends.sqlite.connection.file.permissions import FILE, FOLDER


class PeerFolder:
    """The folder, and a socket to send from."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-peers")
        self._name = str(self._path)
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._handle = -1

    def make(self) -> None:
        """Make it, for its owner only."""
        self._close_handle()
        with suppress(FileExistsError):
            self._path.mkdir(mode=FOLDER)
            self._path.chmod(FOLDER)  # a umask may restrict the owner too
        self._open()

    def bind(self, incoming: socket.socket, peer: str) -> None:
        os.fchmod(incoming.fileno(), FILE)  # it gets these rights at once, less the umask
        incoming.bind(self.address(peer))
        os.chmod(peer, FILE, dir_fd=self._handle)

    def peers(self) -> list[str]:
        if self._handle < 0 and not os.access(self._name, os.F_OK):
            return []  # at most commits nobody listens: cheaper than an error
        try:
            if self._handle < 0:
                self._open()
            names = os.listdir(self._handle)  # noqa: PTH208 - names only, at every commit
        except OSError:
            return []
        if not names:
            self._close_handle()  # it may be removed now, and made again by another process
        return names

    def send(self, peer: str, topics: int) -> None:
        self._sender.sendto(bytes((topics,)), self.address(peer))

    def address(self, peer: str) -> str:
        """The address of a peer's socket, short enough whatever the path of the folder."""
        return f"/proc/self/fd/{self._handle}/{peer}"

    def remove(self, peer: str) -> None:
        with suppress(OSError):
            os.unlink(peer, dir_fd=self._handle)

    def close(self) -> None:
        """Close it, and remove it if nobody is left in it."""
        self._sender.close()
        self._close_handle()
        with suppress(OSError):
            self._path.rmdir()

    def _open(self) -> None:
        """Open the folder if it is ours: another user may have put one in its place."""
        handle = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            os.close(handle)
            raise PermissionError(f"{self._path} is not for this user alone")
        self._handle = handle

    def _close_handle(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
