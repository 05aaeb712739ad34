"""Where a model is asked, over which wire, and with which key. A key goes to its own provider only: an address of the
workflow's own gets the one that the workflow names, or none."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal, get_args

from moot.core import accounts
from moot.core.accounts import NoAccount, Wish
from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.core.prices import Rates
from moot.core.records import record
from moot.core.secrecy import redact
from moot.models.model import ModelFailed

Provider = Literal["anthropic", "openai", "google"]
Wire = Literal["anthropic", "responses", "chat", "google"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
_WIRES: Mapping[Provider, Wire] = {"anthropic": "anthropic", "openai": "responses", "google": "google"}
_KNOWN: Mapping[str, Provider] = {one: one for one in PROVIDERS}
NO_KEY = "none"  # clients insist on one; servers of one's own do not look


class ProviderUnknown(InvalidInput):
    code = "PROVIDER_UNKNOWN"


@record
class Endpoint:
    """A model at its provider, or at another address that speaks the same wire."""

    provider: Provider
    name: str
    wire: Wire
    base_url: str | None = None  # None: the provider's own
    key: str | None = field(default=None, repr=False)
    key_name: str | None = None  # the variable that holds it
    rates: Rates | None = None  # what it costs; None: as the price list says

    @property
    def place(self) -> str:
        """For people: whose it is, or where."""
        return self.provider if self.base_url is None else redact(self.base_url)


def find(model: str, environ: Mapping[str, str], *, base_url: str | None = None, env: tuple[str, ...] = ()) -> Endpoint:
    """The endpoint of `provider/name`. `env` names the variable with the key, where it is not the provider's usual."""
    provider, slash, name = model.partition("/")
    known = _KNOWN.get(provider)
    if known is None or not slash or not name:
        raise ProviderUnknown(
            f"`{model[:80]}` is no model of a provider that is known.",
            hint(provider, PROVIDERS) or f"Write provider/name, with one of {', '.join(PROVIDERS)}.",
        )
    service = accounts.PROVIDERS[known]
    if env and (named := accounts.named_key(env)) is not None:
        service = replace(service, keys=(named,))
    try:
        account = accounts.resolve(service, Wish(base_url, env), environ)
    except NoAccount as error:
        raise ModelFailed("auth", f"{error.fact[:1].upper()}{error.fact[1:]}.", error.remedy) from None
    # Whatever calls itself compatible with OpenAI has Chat Completions, and not always Responses.
    wire = "chat" if known == "openai" and base_url is not None else _WIRES[known]
    key = environ[account.key].strip() if account.key is not None else None
    return Endpoint(known, name, wire, account.address, key, account.key)
