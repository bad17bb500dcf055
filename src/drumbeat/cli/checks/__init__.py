"""The checks of `drumbeat doctor`."""
