"""The cases of a coordinator, one file for each part of the contract."""
