"""When a node may act as the leader."""
