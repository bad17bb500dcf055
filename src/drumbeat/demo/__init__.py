"""The demo: a fleet of real processes on one store, which loses its leader and proves that it lost
nothing else.

Three nodes and two extra workers run schedules that tick every second and a flood of jobs. Half-way
the leader is killed with SIGKILL, and another node is paused for longer than its lease lasts. The
handlers write down what they did, outside of Drumbeat. In the end three accounts are compared: what
was due by the triggers, what the ledger says, and what the handlers wrote.
"""
