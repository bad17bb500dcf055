"""Which file is opened: where it may be, whose it is, and who may read it."""
