"""Working: a node claims jobs, runs their handlers and settles the attempts."""
