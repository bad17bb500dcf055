"""Identities: plain values that the type checkers keep apart."""

from __future__ import annotations

from typing import NewType

JobId = NewType("JobId", int)
"""The number of a job, given by the store, rising within a namespace."""

NodeId = NewType("NodeId", str)
"""A node's identity: `label:random`. The random part is new at every start of a process."""


def node_id(label: str, entropy: int) -> NodeId:
    """The identity of one process start.

    The label is for people and may be shared by several processes; the random part is what tells
    two holders of a lease apart, so it must not come from the host's name or the process number.
    """
    return NodeId(f"{label}:{entropy:016x}")


def label_of(node: NodeId) -> str:
    """The part of a node's identity that people chose or know."""
    return node.rpartition(":")[0] or node
