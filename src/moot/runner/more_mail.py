"""Mail that comes for an agent while it runs: handed out to the attempt that is under way, and with it acknowledged."""

from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.registry import attempts
from moot.runner.begun import Begun
from moot.store import unbroken
from moot.store.store import Store
from moot.tools import arrivals


async def wait(store: Store, begun: Begun, most: int) -> tuple[Mail, ...]:
    """Until there is some. JobLost when the attempt is over."""
    with store.listen() as signal:
        while True:
            signal.clear()
            if await store.read(lambda tx: mailbox.has_queued(tx, begun.agent.id)):
                mail = await _take(store, begun, most)
                if mail:
                    return mail
            await signal.wait()


async def _take(store: Store, begun: Begun, most: int) -> tuple[Mail, ...]:
    """Who waits may be cancelled while it is handed out; then nobody will see it, and it waits again."""

    async def give_back(mail: tuple[Mail, ...]) -> None:
        if mail:
            agent, attempt = begun.agent.id, begun.attempt
            await store.write(lambda tx: mailbox.take_back_mail(tx, agent, attempt, mail), caller=SYSTEM)

    return await unbroken.result(store.write(lambda tx: hand_out(tx, begun, most), caller=SYSTEM), late=give_back)


def hand_out(tx: Tx, begun: Begun, most: int) -> tuple[Mail, ...]:
    jobs.guard(tx, begun.job)
    mail = arrivals.new(tx, begun.agent.id, begun.attempt, most)
    attempts.led_by(tx, begun.attempt, max((one.hops for one in mail), default=0))
    return tuple(mail)
