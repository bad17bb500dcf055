"""The Consul coordinator: coordinates all nodes that reach one Consul datacenter.

A term is a key that a session of its own has locked. It is acquired by one transaction, renewed by
renewing the session, and ends when Consul ends the session, which deletes the key. So names that
are used once leave nothing behind. The sessions use no health check of the agent's node: a term
ends only if it is not renewed.

**Tokens** are the key's `ModifyIndex`: the number of the write in Consul's log, which rises over
all keys. The `LockIndex` would not do, since it begins anew with the key. Nobody writes the key
during a term, so its number stays.

**A renewal counts only after a read**: the session is renewed, and then the key is read with
`?consistent`, for which Consul's leader asks a majority whether it still leads.

**The TTL is a lower bound.** Consul ends a session somewhere between one and two TTLs after the
last renewal, and starts to count again when its own leader changes. It accepts no TTL below its
`session_ttl_min`, by default ten seconds; a shorter TTL is then raised to ten seconds. So a term
may live longer than its TTL, never shorter, and after a crash the next term has to wait for that.
There is no lock delay: the store's fence refuses late writes.

**The domain** is a random key, since Consul has no identity that changes when it loses its data.
One transaction grants a term and reads its domain. Nodes that knew another domain wait before they
use a new one (`backends.settling`).

**Hints** are short blocking queries, since an agent that is cut off is silent too.
"""

from drumbeat.backends.consul.coordinator.coordinator import ConsulCoordinator

__all__ = ["ConsulCoordinator"]
