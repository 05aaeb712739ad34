"""`moot deny`: answer a request."""

import click

from moot.cli import answering
from moot.cli.options import instance_option, json_option, person_option, store_option


@click.command()
@click.argument("id", required=False)
@click.option("--text", "words", metavar="TEXT", default="", help="What to say with it.")
@person_option
@instance_option
@store_option
@json_option
def command(
    *, id: str | None, words: str, person: str | None, instance: str | None, store: str | None, as_json: bool
) -> int:
    """Deny a request.

    Without ID it is the only one that is open; where there are several, they are listed.
    """
    return answering.run("denied", id, words, person=person, instance=instance, store=store, as_json=as_json)
