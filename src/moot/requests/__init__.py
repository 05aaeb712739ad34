"""Durable questions to one addressee, and their answers."""
