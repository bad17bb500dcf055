"""Electors: leadership for your own code, made of small parts that can be combined.

An elector is anything with `async is_leader() -> bool`. `LeaderElection` is one, on any
coordinator; the functions here each take one and return another:

```python
election = LeaderElection("web-1", "sqlite:///leader.db")
elector = logged(cached(health_gated(election, database_answers), ttl=1))

async with election:
    if await elector.is_leader(): ...
```
An app obeys an elector that it is given: `Drumbeat(store, elector=elector)`.
"""

from drumbeat.electors.cached import cached
from drumbeat.electors.election import LeaderElection
from drumbeat.electors.fenced import FencedElector, fenced
from drumbeat.electors.health_gate import health_gated
from drumbeat.electors.leader_aware import LeaderAwareScheduler
from drumbeat.electors.logged import logged
from drumbeat.electors.monitored import ElectorMetrics, monitored
from drumbeat.electors.step_down import step_down_on
from drumbeat.electors.tolerant import tolerant
from drumbeat.electors.wrapped import WrappedElector
from drumbeat.ports.elector import Elector

__all__ = [
    "Elector",
    "ElectorMetrics",
    "FencedElector",
    "LeaderAwareScheduler",
    "LeaderElection",
    "WrappedElector",
    "cached",
    "fenced",
    "health_gated",
    "logged",
    "monitored",
    "step_down_on",
    "tolerant",
]
