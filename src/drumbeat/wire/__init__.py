"""The wire: the JSON of the HTTP API and of the command line.

Shapes only ever grow: a field that is here stays, with its name and its meaning.
"""
