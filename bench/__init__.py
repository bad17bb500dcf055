"""Benchmarks: figures of one run on one machine, as ratios wherever something can be compared."""
