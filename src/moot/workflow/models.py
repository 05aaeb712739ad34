"""Names of models: `provider/name`, short names, and those whose beginning says whose they are."""

from moot.core.errors import InvalidInput
from moot.core.nearest import hint, nearest
from moot.core.records import record
from moot.workflow import catalog
from moot.workflow.catalog import Catalog, Provider
from moot.workflow.providers import BY_BACKEND, FREE
from moot.workflow.workflow import Backend


class ModelUnknown(InvalidInput):
    """It is not certain whose model is meant; another is never taken instead."""

    code = "MODEL_UNKNOWN"


@record
class Endpoint:
    """How a model is asked over an API."""

    model: str  # whose language is spoken there, a slash, and what it is called there
    base_url: str | None  # None: the provider's own
    keys: tuple[str, ...]  # variables of the environment that may hold the key


def resolve(written: str, backend: Backend | None, known: Catalog | None = None) -> str:
    """`provider/name`, or as written where only the backend knows. Short names that the provider's own program knows
    stay, because it is not yet decided who runs it."""
    found = known or catalog.shipped()
    if backend in FREE:
        return written
    if written in found.aliases:
        whole = found.aliases[written]
        if written in found.programs_know:
            whole = f"{whole.partition('/')[0]}/{written}"
        return _whole(whole, backend, found)
    if "/" in written:
        return _whole(written, backend, found)
    if (own := BY_BACKEND.get(backend or "")) is not None:
        return f"{own}/{written}"
    for one in found.providers.values():
        if written.startswith(one.beginnings):
            return f"{one.name}/{written}"
    names = ", ".join(sorted(found.providers))
    shorter = ", ".join(sorted(found.aliases))
    near = nearest(written, found.aliases)
    meant = f"Did you mean `{near}`? Else write" if near else "Write"
    raise ModelUnknown(f"`{written[:80]}` has no provider", f"{meant} provider/name ({names}), or {shorter}.")


def _whole(written: str, backend: Backend | None, known: Catalog) -> str:
    provider, _, name = written.partition("/")
    if provider not in known.providers:
        remedy = f"{hint(provider, known.providers)} Others stand under `models` in .moot/config.yaml."
        if "Known are" not in remedy:
            remedy = f"{remedy} Known are: {', '.join(sorted(known.providers))}."
        raise ModelUnknown(f"there is no provider `{provider[:80]}`", remedy)
    if not name:
        raise ModelUnknown(f"`{written[:80]}` names no model", f"Write {provider}/ and its name.")
    own = BY_BACKEND.get(backend or "")
    if own is not None and own != provider:
        raise ModelUnknown(f"`{provider}/{name}` is no model of {backend}", f"Choose one of {own}, or another backend.")
    return f"{provider}/{name}"


def endpoint(model: str, known: Catalog) -> Endpoint:
    """Of a model that `resolve` has found."""
    one = provider_of(model, known)
    assert one is not None
    return Endpoint(f"{one.api}/{known.api_id(model)}", one.base_url, one.keys)


def provider_of(model: str, known: Catalog) -> Provider | None:
    return known.providers.get(model.partition("/")[0])
