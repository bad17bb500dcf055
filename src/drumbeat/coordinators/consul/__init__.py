"""The Consul coordinator: appoints among all nodes that reach one Consul datacenter.

A term is a key that a session of its own has locked. It is acquired by one transaction, renewed by
renewing the session, and ends when Consul ends the session, which deletes the key. Keys do not
stay behind, so a lock of a name that is used once costs nothing afterwards. The sessions watch no
health check of the agent's node: a term is lost by silence, not by somebody else's check.

**Tokens** are the key's `ModifyIndex`: the number of the write in Consul's log, which rises over
all keys. The `LockIndex` would not do, since it begins anew with the key. Nobody writes the key
during a term, so its number stays.

**A renewal is believed only after a look**: the session is renewed, and then the key is read with
`?consistent`, for which Consul's leader asks a majority whether it still leads.

**The TTL is a lower bound.** Consul ends a session somewhere between one and two TTLs after the
last renewal, and begins to count anew when its own leader changes. It takes no TTL below its
`session_ttl_min`, ten seconds unless it was configured otherwise; a shorter one is then lengthened
to ten seconds. A term so lives longer than was asked, never shorter; after a crash the next one
waits for that. There is no lock delay: writes of the past are the business of the store's fence.

**The domain** is a random key, since Consul has no identity of its own that an emptied one would
not have as well. A term is granted and its domain read in one transaction. One that is new is let
settle first by those who knew another (`remote.settling`).

**Hints** are blocking queries, each of them short, since an agent that is cut off is silent too.
"""

from drumbeat.coordinators.consul.coordinator import ConsulCoordinator

__all__ = ["ConsulCoordinator"]
