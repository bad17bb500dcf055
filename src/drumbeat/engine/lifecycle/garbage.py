"""Garbage collection: objects that exist when a node has started are not scanned again.

The full collections of Python scan every object. After the imports there are a hundred thousand,
which takes tens of milliseconds, in which no job starts and no request is answered. Nearly all of
them live until the end, so they are exempted.
"""

from __future__ import annotations

import gc


def freeze_loaded_objects() -> None:
    """Collect garbage, then exempt what is left. Only for a process of our own."""
    gc.collect()
    gc.freeze()
