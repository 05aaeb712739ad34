"""Whether a program has a login of the user's own, by the files where it keeps one. Nothing secret is read."""

import sys
from collections.abc import Mapping
from pathlib import Path

from moot.backends.programs import fields
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json


def claude(environ: Mapping[str, str]) -> bool | None:
    if any(environ.get(name) for name in ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")):
        return True  # that of a cloud
    folder = _folder(environ, "CLAUDE_CONFIG_DIR", ".claude")
    if (folder / ".credentials.json").is_file() or "apiKeyHelper" in read(folder / "settings.json"):
        return True
    return None if sys.platform == "darwin" else False  # there it is in the keychain


def codex(environ: Mapping[str, str]) -> bool | None:
    has_token = bool(environ.get("CODEX_ACCESS_TOKEN"))
    return has_token or (_folder(environ, "CODEX_HOME", ".codex") / "auth.json").is_file()


def gemini(environ: Mapping[str, str]) -> bool | None:
    """What the user has chosen counts, whatever keys there are."""
    if any(environ.get(name) for name in ("GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI")):
        return True
    home = Path(environ.get("GEMINI_CLI_HOME") or environ.get("HOME") or "/nonexistent")
    auth = fields.part(fields.part(read(home / ".gemini" / "settings.json"), "security"), "auth")
    return fields.text(auth, "selectedType") not in ("", "gemini-api-key")


def opencode(environ: Mapping[str, str], provider: str) -> bool | None:
    """With one provider; with any if that is empty."""
    place = _folder(environ, "XDG_DATA_HOME", ".local/share") / "opencode" / "auth.json"
    known = read(place)
    return provider in known if provider else bool(known)


def cursor(_: Mapping[str, str]) -> bool | None:
    return None  # where it keeps it is not documented


def read(place: Path) -> dict[str, Json]:
    """A program's settings; a file with comments in it is beyond us, and left alone."""
    try:
        return json.load_object(place.read_bytes())
    except (OSError, InvalidInput):
        return {}


def _folder(environ: Mapping[str, str], variable: str, otherwise: str) -> Path:
    own = environ.get(variable)
    return Path(own) if own else Path(environ.get("HOME") or "/nonexistent") / otherwise
