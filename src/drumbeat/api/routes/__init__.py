"""The rows of the table, one noun for each file."""
