"""The journal of a tree of sessions, in the store: each page is one commit, which also settles what was used.

A tree belongs to a delivery, not to an attempt: the next attempt goes on with it, unless it ended in a way that going
on would only repeat.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

from moot.backends.backend import Assignment, Briefing
from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core import clock, json
from moot.core.caller import SYSTEM
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tree_path import TreePath
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal, Wakes
from moot.jobs.jobs import Job
from moot.ledger import journal as ledger
from moot.ledger import pauses, usage
from moot.ledger.journal import Account, Closed, Entry, Opened, Tree
from moot.ledger.usage import DOLLAR, Spent
from moot.models.model import ModelFailed, Usage
from moot.process.guardian import Guardian
from moot.registry import attempts, stopping
from moot.runner import limits, pausing, purses, recalling, refusals, spending, terms
from moot.runner.begun import Begun, Start
from moot.runner.pausing import Wait
from moot.runner.refusals import Noted, Reached, Refusal, Refused
from moot.runner.retry import Retry
from moot.runner.session_requests import SessionRequests
from moot.runner.spending import Wanted
from moot.session import journal as contract
from moot.session.journal import Done, Intent, Known, OverBudget, Recalled
from moot.session.report import Failure
from moot.session.stage import Asked
from moot.store import feed, unbroken
from moot.store.store import Store

# The same would come of it again; whatever else goes wrong may go well the next time.
_REPEATED: frozenset[Failure] = frozenset(("limit", "invalid", "reported", "refused", "stopped"))
_NOTHING_REACHED = Reached()


def tree(tx: ReadTx, start: Start, mail: Sequence[Mail]) -> Tree:
    """The tree that an attempt belongs to: that of the attempt before if it is about the same mail, else a new one."""
    job = start.job
    last = ledger.last_tree(tx, start.agent.id)
    if last is None or not _is_about(last, job, mail):
        return Tree(job.id, job.id)
    if last.stop in _REPEATED:
        number = last.generation + 1
        return Tree(f"{last.job}#{number}", last.job, number)
    return last


def _is_about(last: Tree, job: Job, mail: Sequence[Mail]) -> bool:
    """A run that is resumed has new jobs. Who was interrupted in favour of something else drops what it was doing."""
    if last.job == job.id:
        return True
    return "after" not in job.arguments and not {one.id for one in mail}.isdisjoint(recalling.mail(last))


@record
class Signs:
    """What those who keep journals in one host tell each other."""

    stops: asyncio.Event = field(default_factory=asyncio.Event)  # the host comes to its end
    given_back: Wakes = field(default_factory=Wakes)  # something that was set aside may be there again


async def open(store: Store, attempt: Begun, signs: Signs) -> "StoredJournal":
    entries = await store.read(lambda tx: ledger.entries(tx, attempt.tree.root))
    return StoredJournal(store, attempt, entries, signs)


@record
class Kept(Assignment):
    """An assignment of which a journal is kept, for those who can go on with one."""

    _: KW_ONLY
    journal: "Callable[[], Awaitable[StoredJournal]]"
    expand: Callable[[str], str]  # puts the run's values into a prompt
    requests: SessionRequests  # for what its sessions have to ask for
    guardian: Guardian | None = None  # ends what they have started, should this process be killed


class StoredJournal:
    """Of one attempt."""

    def __init__(self, store: Store, attempt: Begun, entries: Sequence[Entry], signs: Signs) -> None:
        self._store = store
        self._attempt = attempt
        self._purses = spending.held(attempt, limits.own(attempt.agent))
        self._account = Account(attempt.attempt, purses.scope_of(attempt.agent, attempt.run), attempt.agent.id)
        self._tree = attempt.tree
        self._is_planted = bool(attempt.tree.facts)
        self._known = recalling.known(entries)
        self._under_way: dict[str, Intent] = {}
        self._signs = signs
        self._asked: Asked | None = None  # when something was begun last
        self._told = recalling.told(attempt.tree, entries)
        self.watch: Callable[[Noted], None] | None = None  # told of every page
        # A first execution is told so with its prompt.
        who, limit = "the run" if attempt.leave.is_last else attempt.agent.name, attempt.leave.reason
        self.ending = f"{who} has reached its {limit}" if limit and attempt.tree.facts else ""

    @property
    def root(self) -> str:
        return self._tree.root

    @property
    def briefing(self) -> Briefing | None:
        """As it was in the first execution; None if this is the first."""
        facts = self._tree.facts
        return Briefing(str(facts["prompt"]), str(facts["system"])) if facts else None

    def begin(self, briefing: Briefing) -> None:
        """Of the first execution. It is on record with the first page."""
        mail = [one.id for one in self._attempt.mail]
        facts: Mapping[str, Json] = {"prompt": briefing.prompt, "system": briefing.system_prompt, "mail": mail}
        self._tree = Tree(self._tree.root, self._tree.job, self._tree.generation, facts)
        self._told = self._told | frozenset(mail)

    def was_told(self, id: str) -> bool:
        """Whether a message was told in this tree before, as part of the prompt or on the way."""
        return id in self._told

    def untold(self) -> tuple[Mail, ...]:
        """What this attempt was given that is new since then."""
        return tuple(one for one in self._attempt.mail if one.id not in self._told)

    async def give_back(self, mail: Collection[Mail]) -> None:
        """It was not told after all, and waits for the next attempt."""
        agent, attempt = self._attempt.agent.id, self._attempt.attempt
        await self._store.write(lambda tx: mailbox.take_back_mail(tx, agent, attempt, mail), caller=SYSTEM)

    async def asked(self) -> Asked | None:
        """What is wanted of the tree. Who was stopped has its last turn, if the host that ends gives it the time."""
        if self._asked is None and self._signs.stops.is_set():
            self._asked = await self._store.read(self._asked_for) or "shutdown"
        return self._asked

    async def ends(self) -> None:
        """Returns when the host comes to its end."""
        await self._signs.stops.wait()

    def known(self, path: str) -> Known | None:
        return self._known.get(path)

    def open_below(self, path: str) -> Sequence[str]:
        return [one for one in self._under_way if TreePath(one).is_below(path)]

    def given_back(self) -> AbstractContextManager[Signal]:
        """By those in this host; for others one has to look again from time to time."""
        return self._signs.given_back.listen()

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        """Whoever is cancelled meanwhile still knows what is on record."""
        page = self._page(done, begun)
        keep = partial(self._keep, page, done, begun)
        written = await unbroken.result(self._store.write(lambda tx: self._write(tx, page), caller=SYSTEM), late=keep)
        keep(written)
        if written.is_recalled:
            raise Recalled
        if written.refusal is not None:
            raise written.refusal

    def _keep(self, page: "Page", done: Sequence[Done], begun: Sequence[Intent], written: "_Written") -> None:
        """What is on record by now."""
        self._is_planted = True
        self._asked = written.asked or self._asked
        if page.answered:
            self._signs.given_back.ring()
        for one in done:
            self._known[one.path] = contract.ended(self._known[one.path], one)
            self._under_way.pop(one.path, None)
        for one in begun:
            if written.may_ask or one.kind != "model":
                self._known[one.path] = contract.started(self._known.get(one.path), one)
                self._under_way[one.path] = one
        if self.watch is not None:
            self.watch(Noted(written.seq, page.answered, self._refused(begun, written)))

    def _refused(self, begun: Sequence[Intent], written: "_Written") -> Refused | None:
        if written.refusal is None or not refusals.is_final(written.refusal):
            return None
        wanted = next(one for one in begun if one.kind == "model")
        return Refused(wanted.path, wanted.name, wanted.facts, written.refusal, written.reached)

    def _page(self, done: Sequence[Done], begun: Sequence[Intent]) -> "Page":
        page = Page([], [], [], [])
        asked: list[Done] = []
        for ended in done:
            one = self._charged(ended) if ended.is_lost else ended
            page.closed.append(_closed(one, self._known[one.path].tries))
            if self._is_model(one.path):
                asked.append(one)
                # Who asks again by itself waits for so short a while that nobody else need know.
                if one.stop == "rate_limit" and not one.is_retried:
                    page.waits.append(self._wait(one))
        if asked:
            page.spent, page.answered = _spent(asked), tuple(one.path for one in asked)
        for intent in begun:
            page.opened.append(self._opened(intent))
            if intent.kind == "model":
                page.models.append(intent)
        page.wanted = _wanted(page.models) if page.models else None
        return page

    def _charged(self, lost: Done) -> Done:
        """What was cut off may have cost what was set aside for it."""
        reserve = self._under_way[lost.path].reserve
        return replace(lost, usage=Usage(cost=reserve, is_estimated=reserve > 0))

    def _is_model(self, path: str) -> bool:
        return (begun := self._under_way.get(path)) is not None and begun.kind == "model"

    def _wait(self, done: Done) -> Wait:
        return Wait(self._under_way[done.path].provider, _storable(done.error or ""), done.until)

    def _opened(self, one: Intent) -> Opened:
        before = self._known.get(one.path)
        number = 1 if before is None else before.tries + 1
        facts = json.dumps(one.facts) if one.facts else "{}"
        return Opened(one.path, number, one.kind, one.name, one.agent, one.trigger, facts, _micros(one.reserve))

    def _write(self, tx: Tx, page: "Page") -> "_Written":
        """If the model may not be asked, all but that is written."""
        stream = self._attempt.agent.stream
        asked = self._guard(tx, page)
        if not self._is_planted:
            ledger.plant(tx, self._tree, self._account.owner)
        ledger.end(tx, self.root, page.closed)
        if page.spent is not None:
            usage.record(tx, self._account.scope, self._account.owner, page.spent)
        for wait in page.waits:
            pausing.pause(tx, stream, wait, Retry().but(terms.of_agent(self._attempt.agent).retry).backoff)
        # Behind the lock: others may have begun something while this waited for it.
        seq = 0 if self.watch is None else feed.end(tx, stream).get(stream, 0)
        if page.wanted is None:
            ledger.begin(tx, self.root, self._account, page.opened)
            return _Written(seq)
        is_recalled = asked == "shutdown" or (asked == "stop" and not all(one.is_last for one in page.models))
        refusal = None if is_recalled else self._refusal(tx, page, page.wanted)
        reached = _NOTHING_REACHED if refusal is None else refusals.reached(tx, self._attempt)
        written = _Written(seq, asked, refusal, reached, is_recalled)
        opened = page.opened if written.may_ask else [one for one in page.opened if one.kind != "model"]
        ledger.begin(tx, self.root, self._account, opened)
        return written

    def _guard(self, tx: Tx, page: "Page") -> Asked | None:
        """Raises AttemptEnded. What is wanted of whoever asks a model is looked at behind the locks, for which it may
        have waited; but who was told to stop has its last turn, whatever is asked for then."""
        caller = self._attempt.caller
        if page.wanted is None:
            attempts.guard(tx, caller)
            return None
        tx.lock("attempts", self._attempt.attempt)
        limits.hold(tx, self._attempt.run)
        asked = attempts.asked(tx, caller)
        return self._asked or asked

    def _refusal(self, tx: Tx, page: "Page", wanted: Wanted) -> Refusal | None:
        for one in page.models:
            if (pause := pauses.of_provider(tx, one.provider)) is not None:
                fact = f"{pause.provider} asked to wait until {clock.to_iso(pause.until)}: {pause.reason}"
                return ModelFailed("rate_limit", fact, until=pause.until)
        refusal = spending.refusal(tx, self._attempt, wanted, self._purses)
        if refusal is None:
            return None
        return OverBudget(refusal.reason, left=refusal.left / DOLLAR, is_passing=refusal.is_passing)

    def _asked_for(self, tx: ReadTx) -> Asked | None:
        run = self._attempt.run
        return stopping.asked(tx, self._attempt.agent.id, run.id if run else None)

    async def end(self, failure: Failure | None) -> None:
        """How the whole tree ended; whether the next attempt goes on with it depends on that."""
        if failure in _REPEATED and self._is_planted:
            await self._store.write(lambda tx: ledger.fell(tx, self.root, str(failure)), caller=SYSTEM)


@dataclass(slots=True)
class Page:
    """What one commit writes."""

    closed: list[Closed]
    opened: list[Opened]
    models: list[Intent]  # that are to be asked
    waits: list[Wait]  # that providers have asked for meanwhile
    wanted: Wanted | None = None  # for the models; None: there are none
    spent: Spent | None = None
    answered: tuple[str, ...] = ()  # the paths of models that have answered, or failed to


@record
class _Written:
    """What came of it."""

    seq: int  # of the last that had happened by then, if anybody wants to know
    asked: Asked | None = None  # whether this is to end
    refusal: Refusal | None = None  # why the model may not be asked
    reached: Reached = _NOTHING_REACHED
    is_recalled: bool = False  # nor may it before whoever asks knows that

    @property
    def may_ask(self) -> bool:
        return self.refusal is None and not self.is_recalled


def _wanted(models: Sequence[Intent]) -> Wanted:
    cost, least, tokens, is_replaceable = 0.0, 0.0, 0, True
    for one in models:
        cost += one.reserve
        least += one.reserve if one.least is None else one.least
        tokens += one.tokens
        is_replaceable &= one.is_replaceable
    return Wanted(_micros(cost), _micros(least), tokens, is_replaceable)


def _closed(done: Done, number: int) -> Closed:
    used = done.usage
    return Closed(
        done.path,
        number,
        contract.state_of(done),
        json.dumps(done.result),
        done.stop,
        None if done.error is None else _storable(done.error),
        _micros(used.cost),
        used.input_tokens,
        used.output_tokens,
        used.cache_read_tokens,
        used.cache_write_tokens,
        used.reasoning_tokens,
        used.is_estimated,
    )


def _spent(asked: Sequence[Done]) -> Spent:
    """Also on answers that broke off, which may have been billed; but only whole ones are turns."""
    input_tokens, output_tokens, turns, cost, is_estimated = 0, 0, 0, 0, False
    for one in asked:
        input_tokens += one.usage.input_tokens
        output_tokens += one.usage.output_tokens
        turns += contract.state_of(one) == "done"
        cost += _micros(one.usage.cost)  # so that the sum of what is on record is what is counted
        is_estimated |= one.usage.is_estimated
    return Spent(input_tokens, output_tokens, turns, cost / DOLLAR, is_estimated=is_estimated)


def _micros(dollars: float) -> int:
    return round(dollars * DOLLAR)


def _storable(error: str) -> str:
    return error.replace("\0", "\\0").encode(errors="replace").decode()
