"""What the etcd and the Consul coordinator share: HTTP calls, leases, registry and hints.

A call goes to one endpoint and, if that one does not answer, to the next. There are two kinds,
since a lost answer does not say whether the call was executed:

- `send` is for calls that may be repeated. It tries the next endpoint after every failure.
- `send_once` is for calls that must not be executed twice. It tries the next endpoint only if the
  request was certainly not sent, and else raises `Unavailable`: the outcome is unknown.

When a caller cancels a call, the next call starts at another endpoint.

A **bond** is an etcd lease or a Consul session: the server ends it when its TTL has passed, and
deletes the keys that are bound to it. Each term and each node's entry is a key with its own bond.
"""
