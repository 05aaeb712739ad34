"""Which Chromium is used, and how it is kept from doing anything but showing the page."""

import os
import shutil

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def program() -> str:
    found = os.environ.get("MOOT_CHROMIUM") or next((path for one in _PROGRAMS if (path := shutil.which(one))), None)
    if found is None:
        raise SystemExit("There is no Chromium here: run make test-browser, or name one in MOOT_CHROMIUM.")
    return found
