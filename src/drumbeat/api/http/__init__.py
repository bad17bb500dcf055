"""HTTP itself: requests, responses, routing, and the server."""
