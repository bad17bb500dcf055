"""The suites themselves: no case hides another."""

from __future__ import annotations

from collections import Counter

import pytest

from drumbeat.testing.conformance import (
    CoordinatorConformance,
    QueueConformance,
    StoreConformance,
    TicketQueueConformance,
)


@pytest.mark.parametrize(
    "suite", [StoreConformance, CoordinatorConformance, QueueConformance, TicketQueueConformance]
)
def test_no_two_parts_of_a_suite_share_a_name(suite: type) -> None:
    names = Counter(name for part in suite.__mro__[:-1] for name in _own(part))
    assert [name for name, times in names.items() if times > 1] == []


def _own(part: type) -> list[str]:
    return [name for name in vars(part) if not name.startswith("__")]
