"""Wiring: backends and settings become a node. The only package that knows every service."""

from __future__ import annotations

from drumbeat.wiring.http import api_of, http_listeners, serves_http
from drumbeat.wiring.node import build_node
from drumbeat.wiring.setup import NodeSetup, submitting_of, tracing_of
from drumbeat.wiring.start import announcements, declared_on, reach
from drumbeat.wiring.timings import check

__all__ = [
    "NodeSetup",
    "announcements",
    "api_of",
    "build_node",
    "check",
    "declared_on",
    "http_listeners",
    "reach",
    "serves_http",
    "submitting_of",
    "tracing_of",
]
