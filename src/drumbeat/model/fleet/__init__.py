"""Nodes, leases, tokens and the audit log."""
