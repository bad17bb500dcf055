"""The schema of a PostgreSQL namespace, and how it is created and upgraded.

- `tables/` and `types/`: the first version of the tables, and of the composite types that functions
  take and return. They are migration 1 and are never changed after a release.
- `migrations/`: numbered changes of tables and types since then.
- `functions/`: the current body of each function, in a file of its own.

`docs/adr/0034` says how nodes of two versions work side by side.
"""
