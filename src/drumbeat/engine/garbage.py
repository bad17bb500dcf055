"""Garbage: what is there when a node has started is not looked through again.

Python finds cycles of garbage by looking at objects, once in a while at all that there are. After
the imports that is a hundred thousand and takes tens of milliseconds, in which no job starts and no
request is answered. Nearly all of them stay until the end, so they are set aside.
"""

from __future__ import annotations

import gc


def set_aside() -> None:
    """Look for garbage once more, and then leave alone what is left. For a process of our own."""
    gc.collect()
    gc.freeze()
