"""Durable work outside transactions: who does it, until when, and what happens when it fails or is lost."""
