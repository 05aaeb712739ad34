"""What a confined program may do with files, and whether this system can confine one. `confining` does it."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Literal

from moot.core.records import record

SETTING = "MOOT_SHELL"
_SECONDS = 30.0

Reach = Literal["confined", "confined but for moot's own files", "unconfined"]


@record
class Confinement:
    """Nothing else is written, and all is read but what is closed. `confining` explains each."""

    write: tuple[Path, ...] = ()
    device: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()
    read: tuple[Path, ...] = ()
    empty: tuple[Path, ...] = ()  # these two where `reach` is "confined"
    frozen: tuple[Path, ...] = ()

    def around(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The arguments that start the program in it."""
        covers = {"empty": self.empty, "frozen": self.frozen} if reach() == "confined" else {}
        kinds = {"write": self.write, "device": self.device, "closed": self.closed, "read": self.read, **covers}
        orders = [text for kind, paths in kinds.items() for path in paths for text in (kind, str(path))]
        return (*_LAUNCHER, *orders, "--", *argv)


# Without what the environment, the user's packages and site-packages say: it would be slower, and not ours to trust.
_LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("confining.py")))


@cache
def reach() -> Reach:
    """How far this system goes, found out by a short-lived process."""
    if sys.platform != "linux":
        return "unconfined"
    try:
        told = subprocess.run([*_LAUNCHER, "probe"], capture_output=True, timeout=_SECONDS, check=True).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return "unconfined"
    if b"confines" not in told:
        return "unconfined"
    return "confined" if b"covers" in told else "confined but for moot's own files"


def is_on() -> bool:
    """Whether programs are confined: where that can be done, unless the person has waived it."""
    return not is_waived() and reach() != "unconfined"


def is_missing() -> bool:
    """Whether they are not, and the person has not said that this is well."""
    return not is_waived() and reach() == "unconfined"


def is_waived() -> bool:
    """Whether the person wants programs to run as they are. Only in the environment: no repository decides this."""
    return os.environ.get(SETTING) == "unconfined"
