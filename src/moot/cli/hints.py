"""What several commands say beside their output."""

from moot.cli import terminal


def no_host() -> None:
    terminal.note("no host is running; start one with: moot serve")
