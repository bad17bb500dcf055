"""Telemetry: logs, metrics, traces. They subscribe to events; nobody calls them."""
