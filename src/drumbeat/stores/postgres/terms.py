"""Terms: the limits and the rate of a job, as one text that the database compares and reads."""

from __future__ import annotations

import json
from typing import TypeAlias

from drumbeat.model.job import Limit, OnConflict, Rate
from drumbeat.stores.postgres.lengths import to_length, to_microseconds
from drumbeat.stores.postgres.texts import name

MOST = 100_000
"""Texts whose values are kept: reading one anew takes a hundred times as long."""

Terms: TypeAlias = tuple[tuple[Limit, ...], Rate | None]

NONE: Terms = ((), None)

_text = json.JSONEncoder(separators=(",", ":")).encode
_read: dict[str | None, Terms] = {None: NONE}


def terms_to_text(limits: tuple[Limit, ...], rate: Rate | None) -> str | None:
    """The column `terms`: a list of the limits, and the rate with the time between two starts."""
    if not limits and rate is None:
        return None
    text = _text([[_limit(limit) for limit in limits], _rate(rate)])
    _keep(text, (limits, rate))
    return text


def terms_of(text: str | None) -> Terms:
    """The limits and the rate that were written."""
    return _read.get(text) or _from_text(text or "")


def _limit(limit: Limit) -> list[object]:
    return [name("a limit's key", limit.key), limit.at_most, limit.on_conflict.value]


def _rate(rate: Rate | None) -> list[object] | None:
    if rate is None:
        return None
    spacing = to_microseconds(rate.spacing)
    return [name("a rate's key", rate.key), rate.at_most, to_microseconds(rate.per), spacing]


def _from_text(text: str) -> Terms:
    limits, rate = json.loads(text)
    return _keep(
        text,
        (
            tuple(Limit(key, at_most, OnConflict(answer)) for key, at_most, answer in limits),
            None if rate is None else Rate(rate[0], rate[1], to_length(rate[2])),
        ),
    )


def _keep(text: str, terms: Terms) -> Terms:
    if len(_read) >= MOST:
        _read.clear()
        _read[None] = NONE
    _read[text] = terms
    return terms
