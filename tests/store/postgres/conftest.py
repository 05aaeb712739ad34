"""These tests look at how a store is made and bend it, so each has one of its own."""

import pytest


@pytest.fixture
def pg_made_url(pg_url: str) -> str:
    """Made by whoever opens it, dropped at the end."""
    return pg_url
