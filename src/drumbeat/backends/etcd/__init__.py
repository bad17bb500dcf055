"""The etcd backend."""
