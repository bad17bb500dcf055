"""Executing: runs the handler of one attempt on the event loop, in a thread or in a process."""
