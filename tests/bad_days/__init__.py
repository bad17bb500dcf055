"""Whole apps on real servers that fail: what was promised must hold at the end of each day."""
