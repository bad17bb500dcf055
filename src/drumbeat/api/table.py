"""The table of all routes: the one place that says what there is, and who may ask."""

from __future__ import annotations

from drumbeat.api.resolver import AnyRoute
from drumbeat.api.routes import jobs

TABLE: tuple[AnyRoute, ...] = (*jobs.ROUTES,)
