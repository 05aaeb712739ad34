"""Where a model is asked, over which wire, and with which key. A key goes to its own provider only: an address of the
workflow's own gets the one that the workflow names, or none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.models.model import ModelFailed
from moot.models.redaction import redact

Provider = Literal["anthropic", "openai", "google"]
Wire = Literal["anthropic", "responses", "chat", "google"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
# The first that is set counts.
KEYS: Mapping[Provider, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
_ADDRESSES: Mapping[Provider, str] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
}
_WIRES: Mapping[Provider, Wire] = {"anthropic": "anthropic", "openai": "responses", "google": "google"}
NO_KEY = "none"  # clients insist on one; servers of one's own do not look
_KEY_ENDINGS = ("_KEY", "_TOKEN")


class ProviderUnknown(InvalidInput):
    code = "PROVIDER_UNKNOWN"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at its provider, or at another address that speaks the same wire."""

    provider: Provider
    name: str
    wire: Wire
    base_url: str | None = None  # None: the provider's own
    key: str | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """For people: whose it is, or where."""
        return self.provider if self.base_url is None else redact(self.base_url)


def find(model: str, environ: Mapping[str, str], *, base_url: str | None = None, env: tuple[str, ...] = ()) -> Endpoint:
    """The endpoint of `provider/name`. `env` are the variables that a workflow's own address may be shown."""
    provider, slash, name = model.partition("/")
    known: Provider | None = next((one for one in PROVIDERS if one == provider), None)
    if known is None or not slash or not name:
        raise ProviderUnknown(
            f"`{model[:80]}` is no model of a provider that is known.",
            hint(provider, PROVIDERS) or f"Write provider/name, with one of {', '.join(PROVIDERS)}.",
        )
    if base_url is not None:
        # Whatever calls itself compatible with OpenAI has Chat Completions, and not always Responses.
        wire = "chat" if known == "openai" else _WIRES[known]
        key = _first(environ, [one for one in env if one.endswith(_KEY_ENDINGS)])
        return Endpoint(known, name, wire, base_url, key)
    own = environ.get(_ADDRESSES[known]) or None
    key = _first(environ, KEYS[known])
    if key is None and own is None:
        raise ModelFailed("auth", f"There is no key for {known}.", f"Set {' or '.join(KEYS[known])}.")
    return Endpoint(known, name, _WIRES[known], own, key)


def has_key(provider: str, environ: Mapping[str, str]) -> bool:
    """Whether the models of a provider can be asked from here, without asking."""
    known: Provider | None = next((one for one in PROVIDERS if one == provider), None)
    return known is not None and _first(environ, KEYS[known]) is not None


def _first(environ: Mapping[str, str], names: tuple[str, ...] | list[str]) -> str | None:
    return next((value for name in names if (value := environ.get(name, "").strip())), None)
