"""The dashboard: built files of the page, and the ASGI app that serves them before the API.

The source of the page is in `web`, and `make web` builds it into `static`. The page uses nothing
but the HTTP API, so this package only knows files.
"""
