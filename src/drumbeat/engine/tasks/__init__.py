"""Tasks: registered handlers, their options and their arguments."""
