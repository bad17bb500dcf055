"""The list of nodes: what the store and the coordinator know, put together."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.fleet.node import ListedNode, Node, NodeRecord


def list_nodes(
    records: Sequence[NodeRecord], registered: Sequence[Node] | None
) -> Sequence[ListedNode]:
    """Every node once, by identity. `registered` is None if the coordinator does not answer.

    The store decides whether a node that it knows is alive. A node that only the coordinator lists
    shares no store with this one: instances that have a store each find each other so.
    """
    names = None if registered is None else {node.id for node in registered}
    known = {
        record.node.id: ListedNode(
            record.node,
            record.alive,
            None if names is None else record.node.id in names,
            record.beat_at,
            record.expires_at,
            record.drain_requested,
        )
        for record in records
    }
    for node in registered or ():
        known.setdefault(node.id, ListedNode(node, alive=True, registered=True))
    return [known[name] for name in sorted(known)]
