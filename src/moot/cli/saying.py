"""What a person is told who has just said something: why it may not be read at once."""

from moot.api import roster, targets
from moot.api.access import Access
from moot.api.connection import Connection
from moot.cli import hints, terminal
from moot.tools.talk import Said


async def warn(connection: Connection, said: Said, *, is_served: bool) -> None:
    for name in said.unknown:
        terminal.warn(f"nobody here is called @{name}")
    hearers = await roster.named(connection.store, said.message.stream, said.recipients)
    absent = [one.agent for one in hearers if one.presence == "offline"]
    for one in absent:
        if one.backend == "external":
            terminal.warn(f"{one.name} reads it when it joins with: {targets.joining(one.name, one.instance)}")
    stopped = [one for one in absent if one.is_started_by_moot]
    if stopped:
        from moot.api import status  # brings the runner along, which a message to others does not need

        for name, command in (await status.releasing(connection, stopped)).items():
            terminal.warn(f"{name} is stopped and reads it later; run it again with: {command}")
    if not is_served and (not hearers or any(one.needs_host and one.agent not in absent for one in hearers)):
        hints.no_host()


async def go_on(access: Access) -> None:
    """To who has answered a run that did not wait for it."""
    from moot.api import remedies  # brings the runner along

    command = await remedies.after_answer(access)
    if command is not None:
        terminal.flush()
        terminal.note(f"go on with: {command}")
