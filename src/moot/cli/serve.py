"""`moot serve`: a host for this store, until Ctrl-C or a signal."""

import logging
import os
import resource
from pathlib import Path

import click

from moot.api import serving
from moot.api.serving import Running
from moot.app.hosting import HostOptions
from moot.cli import loop, terminal
from moot.cli.options import instance_option, store_option, tool_names_option
from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.process import detached
from moot.tools.spellings import Spelling


@click.command()
@click.option(
    "--agents",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Make the agents of this file known first.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="On 127.0.0.1.  [default: any free one]")
@click.option(
    "--trust-agent-header", is_flag=True, help="Believe X-Agent-Id without a token. Only for programs you trust."
)
@tool_names_option
@instance_option
@store_option
def command(
    *,
    file: Path | None,
    port: int,
    trust_agent_header: bool,
    tool_names: Spelling | None,
    instance: str | None,
    store: str | None,
) -> None:
    """Run agents for this store, and serve their tools over MCP.

    The first Ctrl-C lets running agents finish for ten seconds, the second ends them at once: their mail waits for
    the next host.
    """
    # Libraries speak up only when something is wrong; what moot itself does is told.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("moot").setLevel(os.environ.get("MOOT_LOG", "INFO").upper())
    _allow_many_files()
    options = HostOptions(port=port, trust_agent_header=trust_agent_header, spelling=tool_names or "underscored")
    loop.run(
        serving.serve(
            store=store,
            instance=InstanceName(instance or DEFAULT_INSTANCE),
            agents_file=file,
            options=options,
            ready=_say_where,
        )
    )


def _allow_many_files() -> None:
    """Every connection is an open file; the usual limit of 1,024 is soft, and meant for other programs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _say_where(running: Running) -> None:
    where = [str(place) for place in (running.address.socket, running.address.url) if place]
    beside = f"; another host already serves {running.taken}, and both share the work" if running.taken else ""
    terminal.say(f"moot serves on {' and '.join(where)}{beside}")
    terminal.flush()
    detached.tell_ready()
