"""Rules: pure decisions. No I/O, no clock, no randomness of their own."""
