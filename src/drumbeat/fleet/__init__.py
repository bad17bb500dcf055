"""The fleet: one protocol of everything that a person or a program may ask of a fleet.

`Fleet` has one part for each noun (`fleet.jobs`, `fleet.schedules`, ...). `local` implements it
over the store, `remote` over HTTP. The HTTP API is a table of routes over a local fleet, and the
command line takes either. Operations take and return the values of `wire` and raise the errors of
`model.errors`.
"""
