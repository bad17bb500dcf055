"""Leading: elections, terms, locks and hand-overs."""
