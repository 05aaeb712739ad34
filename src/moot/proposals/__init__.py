"""Proposals: what is put to a vote, who may vote, and what comes of it."""
