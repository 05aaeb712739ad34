"""The program of a guardian: reads what is to be guarded, and sees to it when nobody writes any more."""

import json
import shutil
import sys


def main() -> None:
    guarded: dict[str, str | None] = {}
    for line in sys.stdin:
        told: dict[str, str] = json.loads(line)
        if "guard" in told:
            guarded[told["guard"]] = told.get("folder")
        else:
            guarded.pop(told["release"], None)
    if guarded:
        _see_to(guarded)


def _see_to(guarded: dict[str, str | None]) -> None:
    # Only here: most guardians never need it, and wait in as little memory as they can.
    from moot.process import sweep  # noqa: PLC0415

    for marker, folder in guarded.items():
        sweep.kill_marked(marker)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
