"""The etcd coordinator: appoints among all nodes that reach one etcd cluster.

A term is a key that is bound to an etcd lease of its own. It is acquired by one transaction that
writes the key if it does not exist, renewed by one that binds the same key to a new lease, and ends
when etcd revokes the lease, which deletes the key.

**Tokens** are the key's `create_revision`: etcd numbers all its writes in one rising sequence, so
each new term of any name has a higher one than all before.

**A lease is never kept alive: a renewal takes a new one.** A member that was cut off or paused may
take itself for etcd's leader when it wakes. It may answer a keep-alive for a lease that the others
have ended, and it may end leases that the others have kept alive, since it was not there to see it.
A new lease it does not know. So whatever such a member ends, its holder has stopped trusting in,
and whatever answers a renewal, a majority has written it. A renewal that was held up on its way
finds the key bound to another lease than it expects, and does nothing.

**The TTL at the server is a lower bound.** etcd counts in whole seconds, so what was asked for is
rounded up; its shortest is one and a half election time-outs; it looks for leases that are over
twice a second; and it begins to count anew when its own leader changes. All of that makes a term
live longer than was asked, never shorter, and until etcd has ended it nobody else can have it. So
etcd alone decides when a term is over, and a holder that asks before that is renewed.

**The domain** is the cluster id and a random key. The cluster id is not enough: it is computed from
the addresses of the members and their cluster token, so a cluster that is wiped and started again
as before has the same one, and counts its revisions from one. The random key is gone then, and the
next term is the first of a new domain, which those who knew the old one let settle first
(`remote.settling`). A term is granted and its domain read in one transaction.
A cluster that is restored from an old snapshot keeps both; see the docs on what to do then.

**Hints** are looks. Whoever waits looks at the keys, follows a watch from the revision that it
looked at, and looks again at the first word of the watch, or when it was silent for a while, since
a member that is cut off is silent too. So nothing is missed whatever becomes of a watch.
"""

from drumbeat.coordinators.etcd.coordinator import EtcdCoordinator

__all__ = ["EtcdCoordinator"]
