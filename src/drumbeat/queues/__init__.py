"""Queues: they carry hints about ready jobs. They tell; the store decides."""
