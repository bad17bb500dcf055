"""Transactions: a statement of ours, run over a connection of the caller's.

Drivers are recognised by where their classes come from and are never imported here: whoever hands
us a connection has imported its driver already.
"""

from drumbeat.backends.transactions.connections import CallersTransactions

__all__ = ["CallersTransactions"]
