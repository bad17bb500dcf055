"""The client: what can be asked of an app, asked of a server over HTTP.

Calls are named as those of the app are, return the same values and raise the same errors.
`Client` is for code with an event loop, `SyncClient` for code without one.
"""
