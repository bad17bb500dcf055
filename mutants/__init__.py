"""Mutants: bugs that are planted to check whether the tests find them.

Each mutant in `catalogue/*.toml` changes one piece of the source and names the tests that have to
fail then. `python -m mutants` plants them one at a time in a copy of the project, runs
those tests, and reports which mutants survived.
"""
