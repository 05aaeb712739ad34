"""Hiding: what nobody should read is taken out of everything before it goes onto a tape."""

from collections.abc import Mapping
from typing import Any, cast

from moot.core import secrecy
from moot.core.json import Json


class Hiding:
    """Knows the secrets of this process and those that it is told."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._secrets = set(secrecy.secrets_of(environ))

    def add(self, secret: str) -> None:
        self._secrets.add(secret)

    def hidden(self, value: Any) -> Json:
        """The same without secrets, also in the names of its parts."""
        match value:
            case str():
                return secrecy.redact(value, self._secrets)
            case dict():
                found = cast(dict[str, Any], value)
                return {secrecy.redact(key, self._secrets): self.hidden(one) for key, one in found.items()}
            case list():
                return [self.hidden(one) for one in cast(list[Any], value)]
            case _:
                return value
