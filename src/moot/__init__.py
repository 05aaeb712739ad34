"""moot: where coding agents work together."""

__version__ = "0.1.0"
