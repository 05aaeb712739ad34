"""Coming in and going: a link becomes a visit, a cookie proves it, and a word that only our own pages can read has to
come with every change."""

import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urljoin

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.edge.gate import Headers
from moot.edge.refusals import HttpRefusal, OriginRefused
from moot.registry import tokens, visits
from moot.registry.errors import NotAuthenticated
from moot.registry.visits import Visit, VisitRole
from moot.store.store import Store

WORD_HEADER = b"x-moot-csrf"
_FETCHED = b"sec-fetch-site"


class WordMissing(HttpRefusal):
    """A change that does not prove that our own page asks for it."""

    code = "CSRF_REFUSED"
    status = 403


class ReadOnly(HttpRefusal):
    """Somebody who only watches would change something."""

    code = "READ_ONLY"
    status = 403


@record
class Guest:
    """A visit, and the secret that proves it."""

    visit: Visit
    secret: str

    @property
    def word(self) -> str:
        """Made from the secret, so that it holds for as long, and after a restart too."""
        return tokens.hash_of(f"word for changes: {self.secret}")


async def link(store: Store, url: str | None, instance: InstanceName, role: VisitRole = "operator") -> str:
    """By which one browser comes in, or several who only watch; `url` is of the server. What proves it stands behind
    the #, which browsers keep to themselves."""
    secret = tokens.new_text()
    await store.write(lambda tx: visits.invite(tx, secret, role, instance), caller=SYSTEM)
    return urljoin(url or "", f"/login#{secret}")


async def enter(store: Store, link: str) -> Guest:
    secret = tokens.new_text()
    visit = await store.write(lambda tx: visits.begin(tx, link, secret), caller=SYSTEM)
    return Guest(visit, secret)


async def leave(store: Store, guest: Guest) -> None:
    await store.write(lambda tx: visits.end(tx, guest.visit), caller=SYSTEM)


async def recognise(store: Store, headers: Headers, cookie: str) -> Guest:
    """Whose cookie it is; NotAuthenticated, if nobody's."""
    secret = _cookies(headers).get(cookie, "")
    visit = await store.read(lambda tx: visits.find(tx, secret)) if secret else None
    if visit is None:
        raise NotAuthenticated("You are not signed in, or your visit is over.", "Get a link with: moot ui")
    return Guest(visit, secret)


def _cookies(headers: Headers) -> Mapping[str, str]:
    try:
        parsed = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return {}
    return {name: one.value for name, one in parsed.items()}


def cookie(name: str, secret: str, seconds: int) -> bytes:
    return f"{name}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}".encode()


def check_own_page(headers: Headers) -> None:
    """Another page of this machine, on another port, counts as the same site for cookies. It is not ours."""
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    is_foreign = origin is not None and origin.lower() != b"http://" + host.lower()
    if is_foreign or headers.get(_FETCHED, b"none") not in (b"same-origin", b"none"):
        raise OriginRefused("Requests from other web pages are not taken.", "Open the page by its own address.")


def check_change(guest: Guest, headers: Headers) -> None:
    """ReadOnly for who only watches; WordMissing, if the word is not there or wrong."""
    if not guest.visit.may_change:
        raise ReadOnly("Who came by this link only watches.", "Ask the person of the project for another link.")
    check_word(guest, headers)


def check_word(guest: Guest, headers: Headers) -> None:
    if not hmac.compare_digest(headers.get(WORD_HEADER, b""), guest.word.encode()):
        raise WordMissing("The change does not come from this page.", "Load the page again.")
