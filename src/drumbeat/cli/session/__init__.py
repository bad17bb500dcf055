"""What the global options say, and which fleet is asked."""
