"""Jobs: their documents, and everything that changes them."""
