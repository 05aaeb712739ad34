"""Names of models: `provider/name`, the few that need no provider, and those that a backend's own provider has."""

from collections.abc import Mapping

from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.workflow.workflow import Backend

PROVIDERS = ("anthropic", "openai", "google")
ALIASES = ("sonnet", "opus", "haiku")
_BY_BACKEND: Mapping[str, str] = {"claude": "anthropic", "codex": "openai", "gemini": "google"}
# Those with their own names for models: they are handed what is written.
_FREE: frozenset[Backend] = frozenset(("cursor", "opencode", "command", "scripted", "human", "external"))
_BEGINNINGS = {"claude-": "anthropic", "gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai"} | {
    "codex": "openai",
    "gemini-": "google",
}


class ModelUnknown(InvalidInput):
    """It is not certain whose model is meant; another is never taken instead."""

    code = "MODEL_UNKNOWN"


def resolve(written: str, backend: Backend | None) -> str:
    """`provider/name`, or as written where only the backend knows."""
    provider, slash, name = written.partition("/")
    if backend in _FREE:
        return written
    if slash:
        if provider not in PROVIDERS:
            raise ModelUnknown(f"there is no provider `{provider[:80]}`", hint(provider, PROVIDERS))
        if not name:
            raise ModelUnknown(f"`{written[:80]}` names no model", f"Write {provider}/ and its name.")
        return _fitting(provider, name, backend)
    if written in ALIASES:
        return _fitting("anthropic", written, backend)
    if (own := _BY_BACKEND.get(backend or "")) is not None:
        return f"{own}/{written}"
    near = next((whose for beginning, whose in _BEGINNINGS.items() if written.startswith(beginning)), None)
    if near == "anthropic":
        return f"anthropic/{written}"
    if near is not None:
        raise ModelUnknown(f"`{written[:80]}` has no provider", f"Write {near}/{written}.")
    raise ModelUnknown(
        f"`{written[:80]}` has no provider", f"Write provider/name ({', '.join(PROVIDERS)}), or {', '.join(ALIASES)}."
    )


def provider(model: str | None, backend: str) -> str:
    """Whose service runs it: of the model's, or of the backend's own; of a backend that has none, itself."""
    written, slash, _ = (model or "").partition("/")
    return written if slash and backend not in _FREE else _BY_BACKEND.get(backend, backend)


def _fitting(provider: str, name: str, backend: Backend | None) -> str:
    own = _BY_BACKEND.get(backend or "")
    if own is not None and own != provider:
        raise ModelUnknown(f"`{provider}/{name}` is no model of {backend}", f"Choose one of {own}, or another backend.")
    return f"{provider}/{name}"
