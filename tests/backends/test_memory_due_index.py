"""The memory store's due index against a sorted list."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.backends.memory.store.schedules import due_index
from drumbeat.backends.memory.store.schedules.due_index import DueIndex
from drumbeat.testing.conformance.builders import after

names = st.sampled_from("abcdefgh")
moves = st.lists(st.tuples(names, st.none() | st.integers(0, 5), st.integers(0, 6)), max_size=40)


@settings(max_examples=200, deadline=None)
@given(moves, st.integers(0, 9))
def test_the_due_index_answers_as_a_sorted_list_would(
    script: list[tuple[str, int | None, int]], limit: int
) -> None:
    slack, due_index.SLACK = due_index.SLACK, 2
    try:
        kept = DueIndex()
        ticks: dict[str, int] = {}
        for name, tick, asked_at in script:
            if name in ticks:
                kept.remove(name, after(ticks.pop(name)))
            if tick is not None:
                ticks[name] = tick
                kept.add(name, after(tick))
            in_order = sorted(ticks.values())
            due = [each for each in in_order if each <= asked_at][:limit]
            found, next_at = kept.due(after(asked_at), limit)
            assert [ticks[each] for each in found] == due
            assert len(set(found)) == len(found)
            left = in_order[len(due) :]
            assert next_at == (after(left[0]) if left else None)
    finally:
        due_index.SLACK = slack
