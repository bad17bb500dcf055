"""An app that declares nothing yet."""

from __future__ import annotations

from drumbeat import Drumbeat

app = Drumbeat()
