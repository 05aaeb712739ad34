"""`team_mailbox.sh` and `team_control.sh`, as they are installed with the package."""

from typing import NoReturn

from moot.cli.main import main


def mailbox() -> NoReturn:
    main("moot.cli.team_mailbox")


def control() -> NoReturn:
    main("moot.cli.team_control")
