"""The catalog: which providers of models there are, and what their models are called. One file has all of it; the
configuration of a project or a person adds to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from moot.core import accounts, secrecy, yaml
from moot.core.accounts import Service
from moot.core.errors import InvalidInput
from moot.core.prices import Rates
from moot.core.records import record
from moot.workflow.wording import in_our_words

Api = Literal["anthropic", "openai", "google"]
Program = Literal["claude", "codex", "gemini"]
_FILE = Path(__file__).with_name("models.yaml")
_ADDRESS = r"^https?://[^\s@]+$"
_SECRET_IN_ADDRESS = re.compile(r"[?&#;/][^=&;/]*(?:key|token|secret|pass|auth|sig|cred)[^=&;/]*=", re.IGNORECASE)
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*_(?:KEY|TOKEN)$"


def _address(value: str) -> str:
    if "@" in value:  # not repeated: what stands before it is secret
        raise InvalidInput("an address must not hold a user or a password", "Name the key's variable under `env`.")
    if (
        _SECRET_IN_ADDRESS.search(value) or secrecy.redact(value) != value
    ):  # it would stand in the list of processes, and wherever the address is shown
        raise InvalidInput("an address must not hold a key", "Leave it out and name the key's variable under `env`.")
    if not re.match(_ADDRESS, value):
        fact = f"{value[:80]!r} does not begin with http:// or https://"
        raise InvalidInput(fact, f"Write http:// or https:// in front of it, as in http://{value[:80].strip()}.")
    if not _leads_somewhere(value):
        fact = f"{value[:80]!r} is no address: its host or its port cannot be"
        raise InvalidInput(fact, "Write it as in https://host.example:8443/v1 or http://[::1]:8000/v1.")
    return value


def _leads_somewhere(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not match, or no number up to 65535
        return False


def _key(value: str) -> str:
    if not re.match(_VARIABLE, value):
        fact = f"this is no name of a variable that ends with {accounts.KEY_NAMES}"
        raise InvalidInput(fact, "Write the variable's name, as in LAB_API_KEY; keys themselves have no place here.")
    return value


Address = Annotated[
    str, AfterValidator(in_our_words(_address)), Field(json_schema_extra={"pattern": _ADDRESS})
]  # of an endpoint
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
WholeName = Annotated[str, Field(pattern=r"^[^/\s]+/\S+$")]  # provider/name
ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=63)]
Variable = Annotated[str, AfterValidator(in_our_words(_key)), Field(json_schema_extra={"pattern": _VARIABLE})]


class ProviderShape(BaseModel):
    """A provider, as files have it. Keys themselves have no place in a file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    api: Api = "openai"
    keys: list[Variable] = []
    base_url: Address | None = None
    program: Program | None = None
    beginnings: list[Annotated[str, Field(min_length=1)]] = []


class PriceShape(BaseModel):
    """What a model costs, in dollars for a million tokens."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    input: Dollars
    output: Dollars
    cached: Dollars | None = None  # of the input, what the provider's cache gave; None: like the rest of it


class ModelsShape(BaseModel):
    """`models:` of a configuration."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    providers: Mapping[ProviderName, ProviderShape] = {}
    aliases: Mapping[str, WholeName] = {}
    versions: Mapping[str, str] = {}
    prices: Mapping[WholeName, PriceShape] = {}


@record
class Provider:
    """Whose models they are, and how they are asked."""

    name: str
    api: Api
    keys: tuple[str, ...] = ()
    base_url: str | None = None
    program: Program | None = None
    beginnings: tuple[str, ...] = ()

    @property
    def service(self) -> Service:
        """What it takes as an account. An address of the environment is meant for who made the language."""
        own = accounts.PROVIDERS[self.api] if self.name == self.api else None
        return Service(self.name, self.keys, base_url=self.base_url, address=own.address if own else None)


@record
class Catalog:
    providers: Mapping[str, Provider]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    prices: Mapping[str, Rates] = field(default_factory=dict[str, Rates])  # that differ from the list's
    programs_know: frozenset[str] = frozenset()  # aliases that the provider's own program knows itself

    def api_id(self, model: str) -> str:
        """What its API calls a model of the form `provider/name`."""
        whole = self._whole(model)
        return self.versions.get(whole, whole.removeprefix(f"{model.partition('/')[0]}/"))

    def rates(self, model: str) -> Rates | None:
        """What it costs, if the list is not to be believed."""
        return self.prices.get(model) or self.prices.get(self._whole(model))

    def _whole(self, model: str) -> str:
        name = model.partition("/")[2]
        return self.aliases.get(name, model) if name in self.programs_know else model


def shipped() -> Catalog:
    return _with(Catalog({}), _shipped(), is_ours=True)


def of_configs(said: Sequence[ModelsShape]) -> Catalog:
    """What moot ships, with what configurations say, of which the first counts most."""
    found = shipped()
    for one in reversed(said):
        found = _with(found, one, is_ours=False)
    return found


@cache
def _shipped() -> ModelsShape:
    data: Any = yaml.load(_FILE.read_bytes(), _FILE.name)
    return ModelsShape.model_validate(data)


def _with(catalog: Catalog, said: ModelsShape, *, is_ours: bool) -> Catalog:
    providers = {name: _provider(name, one, is_ours=is_ours) for name, one in said.providers.items()}
    known = frozenset(said.aliases) if is_ours else catalog.programs_know - said.aliases.keys()
    return Catalog(
        {**catalog.providers, **providers},
        {**catalog.aliases, **said.aliases},
        {**catalog.versions, **said.versions},
        {**catalog.prices, **{name: _rates(one) for name, one in said.prices.items()}},
        known,
    )


def _rates(said: PriceShape) -> Rates:
    return Rates(said.input, said.output, said.input if said.cached is None else said.cached)


def _provider(name: str, said: ProviderShape, *, is_ours: bool) -> Provider:
    usual = accounts.PROVIDERS[name].keys if is_ours and name in accounts.PROVIDERS else ()
    keys = (*usual, *said.keys)
    return Provider(name, said.api, keys, said.base_url, said.program, tuple(said.beginnings))
