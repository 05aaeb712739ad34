"""Acts: what people and agents did without tools, done again by the functions that did it: a message, a vote, an
answer, a document saved in an editor, a stop. Each runs in one transaction."""

from datetime import timedelta
from typing import cast

from moot.board import checks, tasks
from moot.board.evidence import Approval
from moot.bus import mailbox
from moot.core.errors import MootError
from moot.core.ids import BoardId, ProposalId, RequestId, TaskId
from moot.core.tx import ReadTx, Tx
from moot.documents import documents
from moot.documents.ownership import Author
from moot.proposals import proposals, votes
from moot.registry import agents, instances, names, runs, stopping
from moot.registry.agents import Agent, NewAgent
from moot.registry.runs import Run
from moot.requests import requests
from moot.requests.requests import Answerer, Verdict
from moot.runner import phases
from moot.taping.facts import JOINED, RELEASED, STOPPED
from moot.taping.replaying import channel_likeness
from moot.taping.replaying.channel_likeness import Plain
from moot.taping.replaying.likeness import Likeness, lasting
from moot.taping.replaying.performance import Performance
from moot.taping.tape import Happened, Read, Said
from moot.tools import asking, talk, verifying, voting
from moot.tools.asking import Question, Reply
from moot.tools.talk import Words
from moot.tools.voting import Paper

_MAIL = 1000
WORDS = {
    checks.CHECKED: "a check",
    votes.CAST: "a vote",
    votes.CLOSED: "the end of a vote",
    requests.OPENED: "a request",
    requests.ANSWERED: "an answer",
    documents.CHANGED: "a change of a document",
}


class NotChecked(MootError):
    """A check that was made in the recording is not made now."""

    code = "NOT_CHECKED"


def say(tx: Tx, run: Run, said: Said, known: Performance) -> None:
    reply_to = None
    if said.reply_to is not None:
        reply_to = channel_likeness.counterpart(tx, run, known.score.channel, said.reply_to, known.plain)
    words = Words(known.likeness.translate(said.body), to=said.to, kind=said.kind, reply_to=reply_to)
    talk.say(tx, instances.get(tx, run.instance), _who(tx, run, said.sender), words)


def read(tx: Tx, run: Run, done: Read, plain: Plain) -> None:
    """Of those letters that are here, too."""
    reader = agents.find(tx, run.stream, done.agent)
    if reader is None:
        return
    seen = {(one.sender, lasting(plain(one.body))) for one in done.mail}
    for mail in mailbox.unread(tx, reader.id, _MAIL):
        if (mail.sender, lasting(plain(mail.body))) in seen:
            mailbox.ack_one(tx, reader.id, mail.seq)
    tx.wake()


def do(tx: Tx, run: Run, act: Happened, likeness: Likeness) -> None:
    """MootError, if it is refused."""
    match act.kind:
        case checks.CHECKED:
            _check(tx, run, act, likeness)
        case votes.CAST:
            _vote(tx, run, act)
        case votes.CLOSED:
            _close_vote(tx, run, act)
        case requests.OPENED:
            _ask(tx, run, act)
        case requests.ANSWERED:
            _answer(tx, run, act)
        case documents.CHANGED:
            _change(tx, run, act)
        case _:
            _control(tx, run, act)


def _check(tx: Tx, run: Run, act: Happened, likeness: Likeness) -> None:
    """What was found then: nothing is looked at again. What somebody has agreed to is in the store."""
    facts, id = act.facts, TaskId(likeness.translate(act.subject))
    task = tasks.find(tx, id) or tasks.named(tx, BoardId(run.id), str(facts["name"]))
    check = None if task is None else verifying.next_check(tx, task.id)
    if task is None or check is None or (check.round, check.place) != (facts["round"], facts["place"]):
        raise NotChecked(f"The task {facts['name']!r} does not wait for it.", "Record it anew.")
    trouble = None if facts["has_passed"] else str(facts["output"])
    if isinstance(check.evidence, Approval):
        found = verifying.approval(tx, check, check.evidence)
        if found is None:
            raise NotChecked(f"Nobody has answered whether {facts['name']!r} is done.", "Record it anew.")
        trouble = found or None
    verifying.settle(tx, check, trouble)
    if verifying.next_check(tx, task.id) is not None:
        verifying.look_again(tx, task)


def _vote(tx: Tx, run: Run, act: Happened) -> None:
    facts = act.facts
    paper = Paper(_proposal(tx, run, act), str(facts["choice"]), str(facts["reason"]))
    voting.cast(tx, instances.get(tx, run.instance), _who(tx, run, str(facts["by"])), paper)


def _close_vote(tx: Tx, run: Run, act: Happened) -> None:
    actor, instance, id = _who(tx, run, act.actor), instances.get(tx, run.instance), _proposal(tx, run, act)
    by = None if actor.role == "operator" else actor.id
    if act.facts["status"] == "cancelled":
        voting.cancel(tx, instance, id, by, str(act.facts["reason"]))
    else:
        voting.decide(tx, instance, id, str(act.facts["winner"]), by)


def _ask(tx: Tx, run: Run, act: Happened) -> None:
    facts, lasts = act.facts, act.facts["lasts"]
    question = Question(
        to=str(facts["to"]),
        kind=facts["kind"],
        title=str(facts["title"]),
        body=str(facts["body"]),
        options=tuple(facts["options"]),
        lasts=None if lasts is None else timedelta(seconds=float(lasts)),
        mode=facts.get("mode"),
    )
    asking.ask(tx, instances.get(tx, run.instance), _who(tx, run, act.actor), question)


def _answer(tx: Tx, run: Run, act: Happened) -> None:
    facts, instance = act.facts, instances.get(tx, run.instance)
    found = [one for one in requests.open_of(tx, run.stream) if one.title == facts["title"]]
    id = next((one.id for one in found if one.requester == facts["requester"]), RequestId(act.subject))
    actor = _who(tx, run, str(facts["by"] or act.actor))
    if facts["state"] == "cancelled":
        asking.cancel(tx, instance, id, actor, is_operator=actor.role == "operator")
        return
    reply = Reply(cast(Verdict, facts["state"]), str(facts["answer"]))
    asking.answer(tx, instance, id, reply, Answerer(actor.name, actor.id, actor.role == "operator"))


def _change(tx: Tx, run: Run, act: Happened) -> None:
    file, instance, facts = act.subject, run.instance, act.facts
    author = _author(tx, run, act)
    match facts["action"]:
        case "deleted":
            documents.delete(tx, instance, file, author)
        case "appended":
            documents.append(tx, instance, file, str(facts["content"]), author)
        case _:
            documents.write(tx, instance, file, str(facts["content"]), author)


def _control(tx: Tx, run: Run, act: Happened) -> None:
    match act.kind:
        case runs.STOP_ASKED:
            runs.ask_stop(tx, run, act.facts["how"])
        case runs.PAUSED:
            is_paused = bool(act.facts["is_paused"])
            if runs.pause(tx, run, is_paused=is_paused) and not is_paused:
                phases.wake_waiting(tx, runs.get(tx, run.id))
        case runs.ENDED:
            phases.close(tx, run.id, "interrupted", str(act.facts["reason"]))
        case _ if act.kind == JOINED:
            _join(tx, run, act)
        case _ if act.kind == STOPPED:
            stopping.stop(tx, _who(tx, run, str(act.facts["name"])))
        case _ if act.kind == RELEASED:
            stopping.release(tx, _who(tx, run, str(act.facts["name"])))
        case _:
            pass


def _join(tx: Tx, run: Run, act: Happened) -> None:
    """Unless the workflow has brought them."""
    facts = act.facts
    if agents.find(tx, run.stream, str(facts["name"])) is None:
        new = NewAgent(str(facts["name"]), str(facts["runtime"]), str(facts["backend"]), facts["role"], facts["label"])
        agents.ensure(tx, instances.get(tx, run.instance), new)


def _who(tx: Tx, run: Run, name: str) -> Agent:
    return agents.find(tx, run.stream, name) or agents.person(tx, instances.get(tx, run.instance))


def _author(tx: Tx, run: Run, act: Happened) -> Author:
    """What was saved as a file has no other author than the disk."""
    if act.actor == "disk":
        return Author("disk")
    found = _who(tx, run, act.actor)
    return Author(found.name, found.id, is_free=found.role == "operator")


def _proposal(tx: ReadTx, run: Run, act: Happened) -> ProposalId:
    """The one that is called the same."""
    title = names.fold(str(act.facts["title"]))
    found = [one.id for one in proposals.open_of(tx, run.stream) if names.fold(one.terms.title) == title]
    return found[0] if found else ProposalId(act.subject)
