"""A child's environment: allowed variables of the parent, what the caller adds, and the tree's marker."""

import os
from collections.abc import Collection, Mapping

from moot.process.errors import BadEnvironment, BadMarker

MARKER = "MOOT_PROCESS"

# Who and where the user is, and the way out of the network. No keys, no tokens, and not SSH_AUTH_SOCK, which
# lets its holder act as the user on other machines: a caller that needs such a thing names it.
_USER = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
ALLOWED = frozenset((*_USER, *_PROXIES, *map(str.lower, _PROXIES), *_TRUST))
ALLOWED_PREFIXES = ("LC_", "XDG_")


def build(
    additions: Mapping[str, str] | None = None,
    *,
    also: Collection[str] = (),
    parent: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The allowed variables of the parent, those named in `also` where it has them, then the additions."""
    source = os.environ if parent is None else parent
    found = {
        name: value
        for name, value in source.items()
        if name in ALLOWED or name in also or name.startswith(ALLOWED_PREFIXES)
    }
    return checked({**found, **(additions or {})})


def checked(env: Mapping[str, str]) -> dict[str, str]:
    """The same variables, once it is certain that a program can be given them."""
    for name, value in env.items():
        if not name or "=" in name or not is_passable(name):
            raise BadEnvironment(f"{name!r} cannot name an environment variable.", "Rename it.")
        if not is_passable(value):
            # The value stays out of the message: it may be a secret.
            raise BadEnvironment(
                f"The value of {name} holds a NUL or a lone surrogate.", "Pass such data by standard input."
            )
    return dict(env)


def marked(env: Mapping[str, str], *markers: str, parent: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables with the markers appended to those this process carries itself.

    The whole line of ancestors is kept, so that ending an outer tree finds what a moot inside it has started.
    """
    source = os.environ if parent is None else parent
    for marker in markers:
        if not marker or "/" in marker or not is_passable(marker):
            raise BadMarker(f"{marker!r} cannot mark a process.", "Use a plain id without slashes.")
    inherited = (source[MARKER],) if source.get(MARKER) else ()
    return {**env, MARKER: "/".join((*inherited, *markers))}


def carries(value: str | None, marker: str) -> bool:
    """Whether the marker is among those in a value of the marker variable."""
    return value is not None and marker in value.split("/")


def is_passable(text: str) -> bool:
    """Whether a program can be given this text: no NUL, no lone surrogate."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
