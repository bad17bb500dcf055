"""Simulation: a whole fleet on one deterministic event loop, under faults, checked in every step.

`docs/simulation.md` says how to run it and how to read what it finds. Everything in a world comes
from its seed: `python -m simulation --seed 7 -v` tells the same story every time.
"""
