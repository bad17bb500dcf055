"""Values: standard library only, no I/O, no clock."""
