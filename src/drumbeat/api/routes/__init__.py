"""What can be asked, one noun a file."""
