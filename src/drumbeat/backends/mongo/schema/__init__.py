"""The schema: which collections and indexes there are, and which versions of them were applied."""
