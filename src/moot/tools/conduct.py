"""How members of a team speak: what each kind of message carries and whom it goes to. Who is in no team speaks as it
likes, and nobody needs leave for plain messages and broadcasts. A hand-off has its evidence in its own words."""

from moot.bus import messages
from moot.bus.messages import Message
from moot.core.errors import InvalidInput
from moot.core.records import replace
from moot.core.tx import ReadTx
from moot.registry import agents, names
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.teams import handoffs, teams
from moot.teams.teams import Part, Team
from moot.tools import membership, open_questions
from moot.tools.talk import EVERYONE, Words

_FREE = ("message", "broadcast", "system")
_STATUS = '{"kind": "status", "message": "<what was done, what is next>", "artifacts": [{"file": "<path>"}]}'
_BLOCKER = '{"kind": "blocker", "message": "<what is in the way>", "workaround": "<how you go on meanwhile>"}'
_ANSWER = '{"kind": "answer", "message": "<what you have found out>", "reply_to": "<id of the question>"}'


class ArtifactMissing(InvalidInput):
    """A worker reports, and names nothing that can be looked at."""

    code = "ARTIFACT_MISSING"


class WorkaroundMissing(InvalidInput):
    """Somebody is blocked, and does not say how to go on."""

    code = "WORKAROUND_MISSING"


class QuestionAstray(InvalidInput):
    """A question goes to somebody who is not to answer it."""

    code = "QUESTION_NOT_TO_LEAD"


class AnswerAstray(InvalidInput):
    """An answer refers to no question."""

    code = "ANSWER_WITHOUT_QUESTION"


class KindRefused(InvalidInput):
    """Messages of this kind are another's, or come with something else."""

    code = "KIND_REFUSED"


def checked(tx: ReadTx, instance: Instance, speaker: Agent, words: Words) -> Words:
    """The words with their addressee, where the kind says who that is; refused if they are not as the team's rules
    want them."""
    if words.kind in _FREE:
        return words
    team = teams.find(tx, instance.name)
    part = None if team is None else membership.part_in(team, speaker.name)
    return words if team is None or part is None else _ruled(tx, team, part, speaker, words)


def _ruled(tx: ReadTx, team: Team, part: Part, speaker: Agent, words: Words) -> Words:
    match words.kind:
        case "status":
            if part == "worker" and not words.evidence.artifacts and handoffs.last(words.body) is None:
                raise ArtifactMissing("A worker's status names a file, a test or a command.", f"Send {_STATUS}.")
            return words
        case "blocker":
            if not words.evidence.workaround:
                raise WorkaroundMissing("A blocker comes with a workaround.", f"Send {_BLOCKER}.")
            return words
        case "question":
            return words if part == "lead" else _to_lead(team, words)
        case "answer":
            found = _answered(tx, team, speaker, words)
            return _to_asker(tx, found, replace(words, reply_to=found.id))
        case "task":
            if part != "lead":
                raise KindRefused("Only the lead gives out tasks.", f"Ask it: a question to @{team.lead}.")
            asked = None if words.reply_to is None else messages.get(tx, words.reply_to, team.stream)
            return words if asked is None else _to_asker(tx, asked, words)
        case _:
            raise KindRefused(
                f"A {words.kind} comes with a request.", "Use request_create to ask, request_respond to answer."
            )


def _to_lead(team: Team, words: Words) -> Words:
    called = {names.fold(name) for name in (*words.mentioned, *words.to)}
    if not called:
        return replace(words, to=(team.lead,))
    if names.fold(team.lead) not in called and called.isdisjoint(EVERYONE):
        raise QuestionAstray(
            f"Questions of a team go to its lead, {team.lead}.",
            f"Name it in `to`, or ask your peers with a plain message: to {', '.join(sorted(called))}.",
        )
    return words


def _answered(tx: ReadTx, team: Team, speaker: Agent, words: Words) -> Message:
    """What is named, else the only thing that the speaker was asked by those it speaks to and has not answered."""
    if words.reply_to is None:
        asked = _unanswered(tx, speaker, words)
        if len(asked) == 1:
            return asked[0]
        known = "; ".join(f"{one.id} of {one.sender}" for one in asked) or "nothing waits for one"
        raise AnswerAstray("An answer says what it answers.", f"Send {_ANSWER}. Open: {known}.")
    found = messages.get(tx, words.reply_to, team.stream)
    if found.kind not in open_questions.ANSWERABLE:
        raise AnswerAstray(f"{found.id} is a {found.kind}, and no question.", f"Send {_ANSWER}, or a plain message.")
    return found


def _unanswered(tx: ReadTx, speaker: Agent, words: Words) -> list[Message]:
    called = {names.fold(name) for name in (*words.mentioned, *words.to)}
    return [one for one in open_questions.asked_of(tx, speaker) if not called or names.fold(one.sender) in called]


def _to_asker(tx: ReadTx, asked: Message, words: Words) -> Words:
    """Who has asked hears the answer, whoever else does."""
    called = {names.fold(name) for name in (*words.mentioned, *words.to)}
    is_called = names.fold(asked.sender) in called or not called.isdisjoint(EVERYONE)
    if is_called or agents.find(tx, asked.stream, asked.sender) is None:
        return words
    return replace(words, to=(*words.to, asked.sender))
