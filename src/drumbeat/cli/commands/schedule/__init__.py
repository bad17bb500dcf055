"""The commands of `drumbeat schedule`."""
