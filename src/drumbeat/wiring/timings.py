"""Timings from the settings, checked before anything starts."""

from __future__ import annotations

from math import floor

from drumbeat.config import Config, Level
from drumbeat.engine.working.node_state import HeartbeatTimings
from drumbeat.model.errors import UnsafeLease
from drumbeat.rules.leadership.lease_trust import LeaseTimings


def check(config: Config) -> None:
    """Refuse timings that cannot work, before anything starts."""
    timings = timings_of(config)
    heartbeats_of(config)
    retry, origin = config.seconds("retry_interval"), config.origins.get("retry_interval")
    if retry > timings.ttl and origin is not None and origin.level is not Level.DEFAULT:
        raise UnsafeLease(
            f"retry_interval {retry:g} s must be at most lease_ttl {timings.ttl:g} s, else the "
            f"followers of a dead leader would sleep past the end of its lease"
        )


def timings_of(config: Config) -> LeaseTimings:
    """The timings of a lease; `UnsafeLease` if they cannot work together."""
    timings = LeaseTimings.for_ttl(config.seconds("lease_ttl"))
    if config.renew_interval is None:
        return timings
    interval = config.seconds("renew_interval")
    longest = floor(timings.longest_renewal() * 1000) / 1000
    try:
        return LeaseTimings.for_ttl(timings.ttl, interval)
    except UnsafeLease:
        raise UnsafeLease(
            f"renew_interval {interval:g} s must be at most {longest:g} s for a "
            f"lease_ttl of {timings.ttl:g} s, else one lost request would cost the leader its term"
        ) from None


def heartbeats_of(config: Config) -> HeartbeatTimings:
    return HeartbeatTimings(config.seconds("heartbeat_every"), config.seconds("node_lifetime"))
