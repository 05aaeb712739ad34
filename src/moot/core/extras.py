"""Parts of moot that are installed only where they are wanted, each by an extra of the package."""

import shlex
import sys


def install(extra: str) -> str:
    """The command that adds it to the environment of this process, which need not be the one that a shell finds."""
    return f"{shlex.quote(sys.executable)} -m pip install 'moot[{extra}]', in a checkout -e '.[{extra}]'"
