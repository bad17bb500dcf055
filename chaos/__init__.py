"""Runs fleets of real processes on real servers under faults, and checks the results.

A run uses one pair of a store and a coordinator. Nodes fire ticks and run jobs, a client submits
more, and a fault injector executes a fault plan that a seed determines. Handlers and nodes record
what they did in journals, independently of Drumbeat. At the end everything is healed, and the
checks compare the due ticks, the ledger, the journals and the acknowledgements of the client.
`python -m chaos` does several runs and writes a report: a table and a timeline.
"""
