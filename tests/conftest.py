"""What all tests share."""

import os

from hypothesis import settings

# CI looks at the same examples each time, so that what it says is about the change. Everywhere
# else the examples are new in each run, and what they find is kept as a test of its own.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
