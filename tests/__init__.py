"""Tests of moot; `tests.interleave` and other helpers are imported from here."""
