"""The files of the page: small ES modules and styles, as they lie in `static/`. Nothing is built, nothing is fetched
from elsewhere."""

import hashlib
from pathlib import Path

from moot.core.records import record
from moot.edge.refusals import NotServed

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@record
class Asset:
    content: bytes
    type: str

    @property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


def find(name: str) -> Asset:
    """Only what lies there under this very name: no path leads elsewhere, because none is followed."""
    path = _known().get(name)
    if path is None:
        raise NotServed("There is no such file.", "The page is at /.")
    return Asset(path.read_bytes(), _TYPES[path.suffix])


def _known() -> dict[str, Path]:
    return {str(one.relative_to(_FOLDER)): one for one in _FOLDER.rglob("*") if one.suffix in _TYPES}
