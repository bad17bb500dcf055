"""Values as JSON, and how JSON is read."""
