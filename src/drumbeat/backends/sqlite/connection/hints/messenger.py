"""The messenger: sends hints to other processes within a millisecond, without polling.

Beside the file is a folder, `drumbeat.db-peers`, that only its owner may enter. A process that
listens puts a Unix datagram socket into it, under a random name. A process that has committed sends
one datagram to each socket: a single byte, the topics as bits. There is no list of processes to
keep. The first datagram to a process that was killed is refused, and its socket is then removed.

A datagram is a hint and may be lost. If the buffer of a receiver is full, the topics are added to
the next datagram to it. Waiters also look once a second.

Where no socket can be made (another system, a file system without sockets, a folder of another
user) the receiver logs a warning and asks SQLite once a second whether another connection has
committed, which costs a few microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from drumbeat.backends.listeners import Listeners
from drumbeat.backends.sqlite.connection.hints.peer_folder import PeerFolder
from drumbeat.backends.sqlite.connection.hints.receiver import Receiver
from drumbeat.forks import leave_to_parent, renew_in_children


class Messenger:
    """Sends hints to the other handles of the file, in any process, and receives theirs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listeners = Listeners()
        self._lock = Lock()
        self._folder: PeerFolder | None = None
        self._receiver: Receiver | None = None
        self._kept: dict[str, int] = {}
        """Topics for peers whose buffer was full."""
        renew_in_children(self._renew)

    def subscribe(self, topics: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake`, on the loop that runs here now, at each hint about one of the topics."""
        stop = self._listeners.add(topics, wake)
        self.open()
        return stop

    def open(self) -> None:
        """Start the receiver if anybody listens: a process that only sends needs no socket."""
        with self._lock:
            if self._receiver is None and self._listeners.topics:
                self._receiver = Receiver(self._path, self._listeners)

    def send(self, topics: int) -> None:
        """Wake the listeners of this handle, and send a datagram to the others."""
        self._listeners.wake(topics)
        with self._lock:
            if self._folder is None:
                self._folder = PeerFolder(self._path)
        receiver = self._receiver
        for peer in self._folder.peers():
            if receiver is None or peer != receiver.name:
                self._send(self._folder, peer, topics | self._kept.pop(peer, 0))

    def close(self) -> None:
        with self._lock:
            receiver, self._receiver = self._receiver, None
            folder, self._folder = self._folder, None
        if receiver is not None:
            receiver.close()
        if folder is not None:
            folder.close()

    def _renew(self) -> None:
        leave_to_parent(self._receiver, self._folder)
        self._lock, self._receiver, self._folder = Lock(), None, None

    def _send(self, folder: PeerFolder, peer: str, topics: int) -> None:
        try:
            folder.send(peer, topics)
        except BlockingIOError:
            self._kept[peer] = topics
        except ConnectionRefusedError:
            folder.remove(peer)  # its process is gone
        except OSError:
            pass  # it has just left, or is another user's: one hint is lost
