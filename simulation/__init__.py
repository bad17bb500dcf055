"""Simulates a whole fleet on one deterministic event loop, injects faults and checks every step.

`docs/simulation.md` explains how to run it and how to read its reports. A seed determines the whole
world: `python -m simulation --seed 7 -v` prints the same transcript every time.
"""
