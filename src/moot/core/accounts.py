"""Accounts: with which key or login a model is asked, and where. This is the one place that decides it, for who shows
it before a run and for who asks then. A key goes to its own service only; an address of an agent's own gets the key
that its `env` names, or none."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

from moot.core.errors import MootError
from moot.core.records import record
from moot.core.secrecy import redact

_ENDINGS = ("_API_KEY", "_KEY", "_TOKEN")  # of the variables in `env`, the first with the first of these is the key
KEY_NAMES = "_KEY or _TOKEN"  # how names of keys end
Login = Literal["none", "found", "missing", "unseen"]


class NoAccount(MootError):
    """There is neither a key nor a login that may be used."""

    code = "NO_ACCOUNT"


@record
class Service:
    """A provider of models or a program that asks one: what it takes as an account."""

    name: str
    keys: tuple[str, ...] = ()  # variables, of which the first that is set is taken; none is needed where none is named
    spare_keys: tuple[str, ...] = ()  # likewise, where it has no login
    base_url: str | None = None  # where it is asked, if not where its library or program knows
    address: str | None = None  # the variable that sends everything elsewhere
    has_login: Callable[[Mapping[str, str]], bool | None] | None = None  # None: it knows none, or it cannot be seen
    is_program: bool = False  # that gets the variables of `env`, of which not all need be keys
    is_fixed: bool = False  # it is asked at no other address

    @property
    def all_keys(self) -> tuple[str, ...]:
        return (*self.keys, *self.spare_keys)


@record
class Wish:
    """What the definition of an agent says of its account."""

    base_url: str | None = None
    env: tuple[str, ...] = ()
    is_isolated: bool = False  # from the user's login


@record
class Account:
    key: str | None = None  # the variable that holds it
    address: str | None = None  # None: the service's own
    login: Login = "none"

    def __str__(self) -> str:
        """For people."""
        if self.key is not None:
            found = f"key {self.key}"
        else:
            logins = {"none": "no key", "found": "your login", "missing": "no login found", "unseen": "your login"}
            found = logins[self.login]
        return found if self.address is None else f"{found} at {shown(self.address)}"


PROVIDERS: Mapping[str, Service] = {
    one.name: one
    for one in (
        Service("anthropic", ("ANTHROPIC_API_KEY",), address="ANTHROPIC_BASE_URL"),
        Service("openai", ("OPENAI_API_KEY",), address="OPENAI_BASE_URL"),
        Service("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), address="GOOGLE_GEMINI_BASE_URL"),
    )
}


def resolve(service: Service, wish: Wish, environ: Mapping[str, str]) -> Account:
    """The account of an agent, and where it is used; NoAccount says what is missing."""
    if wish.base_url is not None:
        if service.is_fixed:
            raise NoAccount(f"{service.name} cannot be asked at another address", "Leave out `base_url`.")
        return Account(_own_key(service, wish, environ), wish.base_url)
    address = service.base_url or (service.address and environ.get(service.address, "").strip()) or None
    seen = service.has_login(environ) if service.has_login is not None and not wish.is_isolated else False
    key = first_set(service.keys, environ) or (None if seen else first_set(service.spare_keys, environ))
    if key is not None:
        return Account(key, address)
    if service.is_program and not wish.is_isolated:
        return Account(None, address, "unseen" if seen is None else "found" if seen else "missing")
    if service.all_keys and (address is None or service.base_url is not None or wish.is_isolated):
        raise _no_key(service, wish)
    return Account(None, address)


def _own_key(service: Service, wish: Wish, environ: Mapping[str, str]) -> str | None:
    """For an address of the agent's own."""
    key = named_key(wish.env)
    if key is None and wish.env and not service.is_program:
        raise NoAccount(
            f"none of the variables in its `env` is a key ({', '.join(wish.env)})",
            f"Name the one that holds the key of {shown(wish.base_url or '')}: it ends with {KEY_NAMES}.",
        )
    if key is not None and first_set((key,), environ) is None:
        raise NoAccount(f"the environment has no {key}, which its `env` names", f"Set {key}.")
    return key


def _no_key(service: Service, wish: Wish) -> NoAccount:
    remedy = f"Set {' or '.join(service.all_keys)}."
    if wish.is_isolated:
        return NoAccount(
            "it is isolated from your login, and there is no key for it", f"{remedy}\nLeave out `isolated`."
        )
    return NoAccount(f"there is no key for {service.name}", remedy)


def named_key(names: Sequence[str]) -> str | None:
    """Which of these variables is the key, by its name."""
    return next((name for ending in _ENDINGS for name in names if name.endswith(ending)), None)


def first_set(names: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The first of these variables that holds anything."""
    return next((name for name in names if environ.get(name, "").strip()), None)


def shown(address: str) -> str:
    """An address without user, password and settings, and without what looks like a key."""
    try:
        parts = urlsplit(address)
    except ValueError:  # of the environment, where anything may stand
        return "an address that cannot be read"
    return redact(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.partition(';')[0]}")
