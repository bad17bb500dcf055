"""Jobs on PostgreSQL.

A claim is `claims.py`, which calls the function `take_jobs` with the types of
`schema/types/claims.sql`; `watermark.py` says where its scan begins.
"""
