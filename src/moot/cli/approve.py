"""`moot approve`: answer a request."""

import click

from moot.cli import answering
from moot.cli.answering import Answer


@click.command()
@answering.options
def command(answer: Answer) -> int:
    """Approve a request, or answer a question with --text.

    Without ID it is the only one that is open; where there are several, they are listed.
    """
    return answering.run("approved", answer)
