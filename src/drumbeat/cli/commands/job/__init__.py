"""The commands of `drumbeat job`."""
