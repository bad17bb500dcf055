"""The etcd coordinator: coordinates all nodes that reach one etcd cluster.

A term is a key that is bound to an etcd lease of its own. It is acquired by one transaction that
writes the key if it does not exist, renewed by one that binds the key to a new lease, and ends when
etcd revokes the lease, which deletes the key.

**Tokens** are the key's `create_revision`: etcd numbers all its writes in one rising sequence, so
each new term of any name has a higher token than all before.

**A renewal creates a new etcd lease and never keeps one alive.** A member that was cut off or
paused may still consider itself etcd's leader when it wakes. It may answer a keep-alive for a lease
that the others have ended, and may end leases that the others have kept alive. It does not know new
leases. So when such a member ends a lease, the holder has already renewed with another one or no
longer trusts its term, and every successful renewal was written by a majority. A delayed renewal
finds the key bound to another lease than it expects, and changes nothing.

**The TTL at the server is a lower bound.** etcd counts in whole seconds, so the TTL is rounded up;
its minimum is one and a half election time-outs; it checks for expired leases twice a second; and
it starts to count again when its own leader changes. So a term may live longer than its TTL, never
shorter, and nobody else can acquire it until etcd has ended it. etcd alone decides when a term is
over, and a renewal before that succeeds.

**The domain** is the cluster id and a random key. The cluster id is not enough: it is computed from
the addresses of the members and their cluster token, so a cluster that is wiped and started again
has the same id, and its revisions start at one. The random key is then missing, and the next term
belongs to a new domain, for which nodes that knew the old one wait first; see
`backends.settling`. One transaction grants a term and reads its domain. A cluster that is
restored from an old snapshot keeps both; the docs say what to do then.

**Hints**: a waiter reads the keys, watches them from the revision of the read, and reads them again
at the first line of the watch, or after some silence, since a member that is cut off is silent too.
So a waiter misses nothing, whatever happens to its watch.
"""

from drumbeat.backends.etcd.coordinator.coordinator import EtcdCoordinator

__all__ = ["EtcdCoordinator"]
