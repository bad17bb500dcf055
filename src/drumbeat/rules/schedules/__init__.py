"""Changes, previews and explanations of schedules."""
