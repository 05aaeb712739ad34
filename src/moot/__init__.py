"""moot: where coding agents meet, talk, vote and share out the work."""

__version__ = "0.1.0"
