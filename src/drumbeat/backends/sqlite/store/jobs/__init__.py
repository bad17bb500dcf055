"""Jobs: inserting, claiming, settling and listing them."""
