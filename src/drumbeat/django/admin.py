"""The page of the fleet in Django's admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from drumbeat.django.fleet_overview import ACTIONS, FleetOverview, act
from drumbeat.django.models import Overview
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.jobs.job import Status

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Overview]
else:
    _Admin = admin.ModelAdmin


@admin.register(Overview)
class OverviewAdmin(_Admin):
    """Shows the fleet in the place of a list of rows."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        del request
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        del request, obj
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the page, or do what one of its buttons says."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._act(request)
        status = request.GET.get("status", "")
        overview, error = None, ""
        try:
            overview = FleetOverview.read(Status(status) if status in list(Status) else None)
        except DrumbeatError as failed:
            error = str(failed)
        context = {
            **self.admin_site.each_context(request),
            **(extra_context or {}),
            "title": "Jobs and schedules",
            "opts": self.opts,
            "overview": overview,
            "error": error,
            "status": status,
            "statuses": [each.value for each in Status],
            "may_change": self.has_change_permission(request),
        }
        return TemplateResponse(request, "admin/drumbeat/overview.html", context)

    def _act(self, request: HttpRequest) -> HttpResponse:
        action, target = request.POST.get("action", ""), request.POST.get("target", "")
        if not self.has_change_permission(request) or action not in ACTIONS:
            raise PermissionDenied
        try:
            act(action, target, request.user.get_username())
        except (DrumbeatError, ValueError) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Done: {action} {target}.")
        return HttpResponseRedirect(request.get_full_path())
