"""Hiding: what nobody should read is taken out of everything before it goes onto a tape."""

import os
from collections.abc import Mapping
from typing import Any, cast

from moot.core.json import Json
from moot.models import redaction
from moot.workflow import variables

_SHORTEST = 8  # of a secret; a shorter one would be found in the middle of words


class Hiding:
    """Knows the secrets of this process and those that it is told."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._secrets = secrets_of(environ)

    def add(self, secret: str) -> None:
        self._secrets.add(secret)

    def hidden(self, value: Any) -> Json:
        """The same without secrets, also in the names of its parts."""
        match value:
            case str():
                return redaction.redact(value, self._secrets)
            case dict():
                found = cast(dict[str, Any], value)
                return {redaction.redact(key, self._secrets): self.hidden(one) for key, one in found.items()}
            case list():
                return [self.hidden(one) for one in cast(list[Any], value)]
            case _:
                return value


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    """The values in an environment that nobody should read. Folders, and words about the desktop, are none."""
    return {
        value
        for name, value in environ.items()
        if variables.looks_secret(name)
        and len(value) >= _SHORTEST
        and not name.startswith(("XDG_", "DESKTOP_"))
        and not os.path.isdir(value)
    }
