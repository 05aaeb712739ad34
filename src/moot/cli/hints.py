"""What several commands say beside their output. Imports little: `moot list` uses it."""

from moot.cli import terminal
from moot.store.errors import StoreNotFound


def no_host() -> None:
    terminal.note("no host is running; start one with: moot serve")


def no_store(missing: StoreNotFound) -> None:
    terminal.note(f"{missing.fact} Waiting for the first moot run, moot send or moot serve; Ctrl-C ends this.")
