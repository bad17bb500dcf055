"""What coordinators on remote servers share: addresses, calls over HTTP, how a term is written.

A call goes to one endpoint and, if that one does not answer, to the next. Two kinds are kept apart,
since an answer that got lost says nothing about what was done:

- `ask` is for calls that may be made again. It goes on to the next endpoint after every failure.
- `tell` is for calls that must not happen twice. It goes on only if the request certainly never
  left, and else raises `Unavailable`: the outcome is unknown.

Whoever cancels a call, since its own deadline came first, makes the next one begin elsewhere.
"""
