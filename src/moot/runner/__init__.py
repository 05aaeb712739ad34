"""Hosts at work: reactions turn events into jobs, workers carry the jobs out."""
