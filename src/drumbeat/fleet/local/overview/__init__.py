"""The overview of the local fleet: what needs attention, searches for schedules, the timeline."""
