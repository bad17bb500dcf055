"""The HTTP API: everything that can be asked of a fleet, over the wire.

One table says what there is: each route with its scope, what it reads and what it answers. From it
come the dispatch, the authorisation and the OpenAPI document, so that they cannot disagree.
"""
