"""The list of nodes has each once, whoever knows of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.model.fleet.node import ListedNode, Node, NodeRecord, Role
from drumbeat.model.ids import NodeId
from drumbeat.rules.listed_nodes import list_nodes
from drumbeat.testing.clock import START

SOON = START + timedelta(seconds=20)


def node(name: str) -> Node:
    return Node(NodeId(name), frozenset({Role.WORKER}), "1", START)


def record(name: str, *, alive: bool = True) -> NodeRecord:
    return NodeRecord(node(name), START, SOON, alive, drain_requested=True)


def stored(name: str, *, alive: bool = True, registered: bool | None) -> ListedNode:
    return ListedNode(node(name), alive, registered, START, SOON, drain_requested=True)


@pytest.mark.parametrize(
    ("records", "registered", "listed"),
    [
        ([], [], []),
        ([], None, []),
        ([record("a")], [node("a")], [stored("a", registered=True)]),
        ([record("a")], [], [stored("a", registered=False)]),
        ([record("a")], None, [stored("a", registered=None)]),
        (
            [record("a", alive=False)],
            [node("a")],
            [stored("a", alive=False, registered=True)],
        ),
        (
            [record("b")],
            [node("c"), node("a")],
            [
                ListedNode(node("a"), alive=True, registered=True),
                stored("b", registered=False),
                ListedNode(node("c"), alive=True, registered=True),
            ],
        ),
    ],
)
def test_each_node_is_listed_once_and_the_store_decides_whether_it_lives(
    records: list[NodeRecord], registered: list[Node] | None, listed: list[ListedNode]
) -> None:
    assert list_nodes(records, registered) == listed
