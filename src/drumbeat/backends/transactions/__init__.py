"""Transactions: runs our statement over a connection of the caller.

Drivers are recognised by the package of their classes and are never imported here: the caller has
imported the driver of its connection already.
"""

from drumbeat.backends.transactions.connections import CallersTransactions

__all__ = ["CallersTransactions"]
