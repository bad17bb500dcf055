"""The remote fleet: the HTTP client.

It encodes requests and decodes responses, and raises the errors that a local fleet raises.
`drumbeat.Client` is for code with an event loop, `drumbeat.SyncClient` for code without one.
"""
