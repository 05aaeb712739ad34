"""Mail that comes for an agent while it runs: handed out to the attempt that is under way, and with it acknowledged."""

from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.registry import attempts
from moot.runner.begun import Begun
from moot.store.store import Store


async def wait(store: Store, begun: Begun, most: int) -> tuple[Mail, ...]:
    """Until there is some. JobLost when the attempt is over."""
    with store.listen() as signal:
        while True:
            signal.clear()
            if await store.read(lambda tx: mailbox.has_queued(tx, begun.agent.id)):
                mail = await store.write(lambda tx: hand_out(tx, begun, most), caller=SYSTEM)
                if mail:
                    return mail
            await signal.wait()


def hand_out(tx: Tx, begun: Begun, most: int) -> tuple[Mail, ...]:
    jobs.guard(tx, begun.job)
    mail = mailbox.hand_out_more(tx, begun.agent.id, begun.attempt, most)
    attempts.led_by(tx, begun.attempt, max((one.hops for one in mail), default=0))
    return tuple(mail)
