"""The model that gives Drumbeat its place and its permissions in the admin. It has no table."""

from __future__ import annotations

from django.db import models


class Overview(models.Model):
    """The fleet: who may view it may see everything, who may change it may act."""

    class Meta:  # noqa: D106 - how Django names it
        managed = False
        default_permissions = ("view", "change")
        verbose_name = "jobs and schedules"
        verbose_name_plural = "jobs and schedules"
