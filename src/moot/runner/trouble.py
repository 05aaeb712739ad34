"""Trouble: the store takes nothing from a host. Told when it begins and when it is over, not at every try between."""

import logging

LOGGER = "moot.runner.trouble"  # for who shows it to a person, apart from what else is logged
_log = logging.getLogger(LOGGER)


class Trouble:
    """What keeps one host from writing, if anything does."""

    def __init__(self) -> None:
        self._fact = ""

    def met(self, error: Exception) -> None:
        if (fact := str(error)) != self._fact:
            self._fact = fact
            _log.warning("The host waits and tries again: %s", fact)

    def over(self) -> None:
        """Something was written."""
        if self._fact:
            self._fact = ""
            _log.warning("The host goes on.")
