"""What becomes of the due ticks of a schedule."""
