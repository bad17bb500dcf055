"""Calls to etcd over its JSON gateway."""
