"""The cases of a store, one file for each part of the contract."""
