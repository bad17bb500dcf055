"""Jobs: the table of them, and claiming."""
