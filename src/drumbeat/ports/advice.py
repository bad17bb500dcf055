"""Advice: what a backend may have to say about the server that it has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Advising(Protocol):
    """A backend that can tell what speaks against its server, once it is open."""

    @property
    def advice(self) -> str | None:
        """A sentence for the operator; None: nothing speaks against it, or it is not known yet."""
        ...


def advice_of(*backends: object) -> Sequence[str]:
    """What these backends advise, each sentence once: they may be on the same server."""
    found = [each.advice for each in backends if isinstance(each, Advising)]
    return list(dict.fromkeys(each for each in found if each is not None))
