"""Wiring: backends and settings become a node. The only package that knows every service."""

from __future__ import annotations

from drumbeat.wiring.http import api_of, doors_of, wants_doors
from drumbeat.wiring.node import build_node
from drumbeat.wiring.plant import Plant, submitting_of, tracing_of
from drumbeat.wiring.start import announcements, declared_on, reach
from drumbeat.wiring.timings import check

__all__ = [
    "Plant",
    "announcements",
    "api_of",
    "build_node",
    "check",
    "declared_on",
    "doors_of",
    "reach",
    "submitting_of",
    "tracing_of",
    "wants_doors",
]
