"""In-process mode: instances that share a coordinator but no store."""
