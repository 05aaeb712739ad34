"""The version of moot, for everything that says it."""

VERSION = "0.1.0"
