"""Benchmarks: figures of one run on one machine, as ratios where something can be compared."""
