"""Secrets: which variables and which words are some, and texts without them.

`hide` takes out what is known to be secret. `redact` also takes out what only looks so: it is for what others say of
our requests, not for the words of an agent, who may well write of keys. What is going to be cut is hidden before, in a
stream by a `Veil`: of a secret that lies across the cut, a part would be left that nobody knows any more.
"""

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from urllib.parse import quote

from moot.core import json
from moot.core.errors import InvalidInput

HIDDEN = "[hidden]"
SHORTEST = 6  # a shorter value is a word like any other, and hiding it would tear words apart
_SHORTEST_LINE = 16  # of a secret of several lines

_NAMES = re.compile(
    r"key|token|secret|passw|pwd|passphrase|credential|auth(?!or)|cookie|session|private|signature|headers|dsn|"
    r"connection|webhook|(?:^|_)(?:pat|pass|pin|salt|jwt)(?:_|$)",
    re.IGNORECASE,
)
_ADDRESS_NAMES = re.compile(r"(?:^|_)url(?:_|$)", re.IGNORECASE)
_OF_THE_DESKTOP = ("XDG_", "DESKTOP_", "GDM", "KDE_", "TERM_")  # they speak of sessions and hold common words
_LOOKS = re.compile(
    r"""
      \b(?:sk|rk|pk|xai|gsk|ghp|gho|ghs|glpat|hf|r8)[-_][A-Za-z0-9_\-.*]{6,}   # keys with their makers' beginnings
    | \bAIza[A-Za-z0-9_\-*]{6,}
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]{8,}                             # tokens that carry claims
    | (?<=[Bb]earer\ )[^\s"',;]{6,}
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)                                          # name and password in an address
    | (?<=[?&]key=)[^\s&"']+
    """,
    re.VERBOSE,
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name may hold what nobody should read."""
    return bool(_NAMES.search(name) or _ADDRESS_NAMES.search(name))


def secrets_of(env: Mapping[str, str], given: Iterable[str] = ()) -> tuple[str, ...]:
    """The values of variables that are secret by their names, and of those in `given`, which are so in any case."""
    named = frozenset(given)
    return tuple(
        value for name, value in env.items() if len(value) >= SHORTEST and (name in named or _is_secret(name, value))
    )


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, however they are written there."""
    data = text.encode(errors="surrogatepass")
    return Veil(secrets).clean(data, len(data))[0].decode(errors="surrogatepass")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the secrets and without what looks like one."""
    return _LOOKS.sub(HIDDEN, hide(text, secrets))


class Veil:
    """Takes secrets out of bytes that may come in pieces."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms = _all_forms(frozenset(secrets))
        self.reach = len(self._forms[0]) - 1 if self._forms else 0

    def clean(self, data: bytes, end: int) -> tuple[bytes, int]:
        """The bytes up to `end` without secrets, and where what is left begins: a secret that begins before `end` is
        taken out whole. That is certain if there are `reach` bytes behind it, or if no more will come."""
        # Looking for each first is ten times as fast as one pattern of all, and mostly there is none.
        present = [re.escape(form) for form in self._forms if form in data]
        if not present:
            return data[:end], end
        pieces: list[bytes] = []
        done = 0
        for found in re.finditer(b"|".join(present), data):
            if found.start() >= end:
                break
            pieces += (data[done : found.start()], HIDDEN.encode())
            done = found.end()
        return b"".join((*pieces, data[done:end])), max(done, end)


def _is_secret(name: str, value: str) -> bool:
    """Where a file lies is no secret, nor is a plain address: it would be missed in errors."""
    if name.upper().startswith(_OF_THE_DESKTOP) or (os.path.isabs(value) and os.path.exists(value)):
        return False
    return bool(_NAMES.search(name) or (_ADDRESS_NAMES.search(name) and re.search("[@?#]", value)))


@lru_cache(maxsize=64)
def _all_forms(secrets: frozenset[str]) -> tuple[bytes, ...]:
    """The longest first, because one may be the beginning of another."""
    known = (secret.encode(errors="surrogateescape") for secret in secrets if len(secret) >= SHORTEST)
    return tuple(sorted({form for secret in known for form in _forms(secret)}, key=lambda form: (-len(form), form)))


def _forms(secret: bytes) -> Iterator[bytes]:
    """As it is, as JSON and addresses spell it, in base64; and its lines, if they are long enough to be no others'."""
    yield secret
    yield quote(secret, safe="").encode()
    with suppress(InvalidInput, UnicodeDecodeError):  # bytes that are no text
        yield json.dump_bytes(secret.decode())[1:-1]
    yield from _in_base64(secret)
    lines = secret.splitlines()
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= _SHORTEST_LINE)


def _in_base64(secret: bytes) -> Iterator[bytes]:
    """Alone, and inside of something longer: there only the characters that do not depend on what is beside it."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(secret)
        for before in range(3):
            data = bytes(before) + secret
            first, end = -(-before * 8 // 6), len(data) * 8 // 6
            yield encode(data)[first:end]
