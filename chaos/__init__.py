"""Chaos: fleets of real processes on real servers under faults, and the checks afterwards.

A day is played on one pair of a store and a coordinator. Nodes fire ticks and run jobs, a client
submits more, and a nemesis draws faults from a seed. The handlers, and the nodes themselves, write
down what they did, outside of Drumbeat. In the end everything is healed, and the checks compare
what was due, what the ledger says, what the handlers wrote and what the client was told.
`python -m chaos` plays days and writes a report: a table and a picture.
"""
