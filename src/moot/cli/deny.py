"""`moot deny`: answer a request."""

import click

from moot.cli import answering
from moot.cli.answering import Answer


@click.command()
@answering.options
def command(answer: Answer) -> int:
    """Deny a request.

    Without ID it is the only one that is open; where there are several, they are listed.
    """
    return answering.run("denied", answer)
