"""Puts the parts together: configuration, and the one place that picks implementations."""
