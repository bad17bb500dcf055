"""Blocking: code without an event loop calls code with one."""
