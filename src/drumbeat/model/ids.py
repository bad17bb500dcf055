"""Identities of jobs and nodes."""

from __future__ import annotations

from typing import NewType

JobId = NewType("JobId", int)
"""The number of a job. The store assigns it; it rises within a namespace."""

NodeId = NewType("NodeId", str)
"""A node's identity: `label:random`. The random part is new at every start of a process."""


def node_id(label: str, entropy: int) -> NodeId:
    """The identity of one start of a process.

    The label is for people, and several processes may share it. The random part distinguishes the
    holders of a lease, so it must not depend on the host name or the process id.
    """
    return NodeId(f"{label}:{entropy:016x}")


def label_of(node: NodeId) -> str:
    return node.rpartition(":")[0] or node
