"""The messenger: tells other processes that the file has changed, within a fraction of a
millisecond and without anybody looking again and again.

Beside the file is a folder, `drumbeat.db-peers`, that only its owner may enter. Whoever listens
puts a Unix datagram socket into it, under a name that nobody can guess. Whoever has committed
sends one datagram to each socket that is there: a single byte, the news as bits. Nothing else
needs to be known of the others, there is no list to keep, and a process that was killed is
noticed by the first datagram that is refused: its socket is then removed.

A datagram is a hint. If a receiver is so busy that its buffer is full, the news are kept for the
next one to it; should that be lost as well, whoever waits for a hint also looks once a second.

Where the socket cannot be made (another system, a file system without sockets, a folder of
another user) the messenger says so once in the log and asks SQLite once a second whether any other
connection has committed, which costs a few microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from drumbeat.sqlite.listeners import Listeners
from drumbeat.sqlite.peers import PeerFolder
from drumbeat.sqlite.receiver import Receiver


class Messenger:
    """Brings news from and to the other handles of the file, in this process and in others."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listeners = Listeners()
        self._lock = Lock()
        self._folder: PeerFolder | None = None
        self._receiver: Receiver | None = None
        self._kept: dict[str, int] = {}
        """News for peers whose buffer was full."""

    def subscribe(self, news: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake`, on the loop that runs here now, after news of this kind."""
        stop = self._listeners.add(news, wake)
        self.open()
        return stop

    def open(self) -> None:
        """Receive from now on, if anybody listens: a process that only tells needs no socket."""
        with self._lock:
            if self._receiver is None and self._listeners.heard:
                self._receiver = Receiver(self._path, self._listeners)

    def tell(self, news: int) -> None:
        """Wake whoever listens through this handle, and send the others word."""
        self._listeners.wake(news)
        with self._lock:
            if self._folder is None:
                self._folder = PeerFolder(self._path)
        receiver = self._receiver
        for peer in self._folder.peers():
            if receiver is None or peer != receiver.name:
                self._send(self._folder, peer, news | self._kept.pop(peer, 0))

    def close(self) -> None:
        """Listen and tell no more."""
        with self._lock:
            receiver, self._receiver = self._receiver, None
            folder, self._folder = self._folder, None
        if receiver is not None:
            receiver.close()
        if folder is not None:
            folder.close()

    def _send(self, folder: PeerFolder, peer: str, news: int) -> None:
        try:
            folder.send(peer, news)
        except BlockingIOError:
            self._kept[peer] = news
        except ConnectionRefusedError:
            folder.remove(peer)  # its process is gone
        except OSError:
            pass  # it has just left, or is another user's: a hint less
