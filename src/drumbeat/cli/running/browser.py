"""Opens the dashboard in a browser, once its server listens."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress

AGAIN = 0.1
TRIES = 300
ANYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, never bound


def has_browser() -> bool:
    """Whether a person is at a terminal of a graphical screen: elsewhere nothing may open."""
    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and sys.stdout.isatty()


def open_when_it_listens(host: str, port: int) -> None:
    """Open the page of a server that is about to start, without waiting for it here."""
    host = "localhost" if host in ANYWHERE else host
    threading.Thread(target=_open, args=(host, port), daemon=True).start()


def _open(host: str, port: int) -> None:
    import webbrowser  # noqa: PLC0415 - seldom needed

    wait = threading.Event()
    for _ in range(TRIES):
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            webbrowser.open(f"http://{host}:{port}/")
            return
        wait.wait(AGAIN)
