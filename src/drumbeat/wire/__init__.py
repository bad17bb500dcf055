"""The wire: how things look in JSON, to programs that ask over HTTP or on the command line.

Shapes only ever grow: a field that is here stays, with its name and its meaning.
"""
