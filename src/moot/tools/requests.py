"""Requests: asking one agent or person, answering, and what is open."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, FailFast, Field

from moot.core.ids import RequestId
from moot.core.permissions import Preset
from moot.core.tool import EVERYONE, WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry import instances
from moot.requests import plain, requests
from moot.requests.requests import Answerer, Kind, Request, State, Verdict
from moot.tools import acting, asking
from moot.tools.asking import Question, Reply
from moot.tools.shapes import LONGEST, Arguments, For, Id, Limit, Line, Name, Result, clean, listed, written

Prose = Annotated[str, Field(max_length=100_000), AfterValidator(clean)]


class Create(Arguments):
    to: Annotated[Name, Field(description="One agent, or a person; `human` is the one at the terminal.")]
    title: Annotated[Line, Field(description="What you ask, in one line.")]
    type: Annotated[Kind, Field(description="A question is answered in words, everything else approved or denied.")] = (
        "question"
    )
    body: Annotated[Prose, Field(description="Everything that is needed to decide.")] = ""
    options: Annotated[
        tuple[Line, ...],
        Field(max_length=20, strict=False, description="The possible answers to a question, if it is not open."),
        FailFast(),
    ] = ()
    mode: Annotated[Preset | None, Field(description="Of a mode_set: what the agent may do by itself.")] = None
    timeout_seconds: Annotated[
        float | None,
        Field(ge=1, le=LONGEST, description="Default: 10 minutes for agents, as long as it takes for people."),
    ] = None
    agent_id: For = None


class Respond(Arguments):
    request_id: Id
    approve: Annotated[bool | None, Field(description="Yes or no; leave it out to answer a question.")] = None
    answer: Annotated[Prose, Field(description="The answer to a question, or why.")] = ""
    agent_id: For = None


class Look(Arguments):
    state: Annotated[Literal["open", "all"], Field(description="What is open, or the last of all.")] = "open"
    limit: Limit = 50


class RequestCard(Result):
    """A request as everyone sees it."""

    id: str
    type: Kind
    sender: str = Field(validation_alias=AliasChoices("sender", "from"), serialization_alias="from")
    to: str
    title: str
    body: str
    options: tuple[str, ...]
    mode: Preset | None = None
    hash: str
    state: State
    answer: str
    answered_by: str | None = None
    message_id: str | None = None
    created_at: str
    expires_at: str | None = None
    answered_at: str | None = None


class RequestCards(Result):
    requests: tuple[RequestCard, ...]


async def create(call: Call, arguments: Create) -> RequestCard:
    seconds = arguments.timeout_seconds
    question = Question(
        to=arguments.to,
        kind=arguments.type,
        title=arguments.title,
        body=arguments.body,
        options=arguments.options,
        lasts="default" if seconds is None else timedelta(seconds=seconds),
        attempt=call.caller.attempt,
        mode=arguments.mode,
    )

    def change(tx: Tx) -> RequestCard:
        requester = acting.agent_for(tx, call.caller, arguments.agent_id)
        return card(asking.ask(tx, acting.instance_of(tx, call.caller), requester, question))

    return await call.write(change)


async def respond(call: Call, arguments: Respond) -> RequestCard:
    id = RequestId(arguments.request_id)

    def change(tx: Tx) -> RequestCard:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        instance = acting.instance_of(tx, call.caller)
        verdict = _verdict(requests.get(tx, id, instance.stream), arguments.approve, arguments.answer)
        reply = Reply(verdict, arguments.answer, call.caller.attempt)
        by = Answerer(agent.name, agent.id, call.caller.role == "operator")
        return card(asking.answer(tx, instance, id, reply, by))

    return await call.write(change)


async def look(call: Call, arguments: Look) -> RequestCards:
    def read(tx: ReadTx) -> RequestCards:
        instance = instances.find(tx, call.caller.instance)
        if instance is None:
            return RequestCards(requests=())
        if arguments.state == "open":
            found = requests.open_of(tx, instance.stream)[: arguments.limit]
        else:
            found = requests.latest(tx, instance.stream, arguments.limit)
        return RequestCards(requests=tuple(card(one) for one in found))

    return await call.read(read)


def _verdict(request: Request, approve: bool | None, answer: str) -> Verdict:
    """An approved question is one that is answered."""
    if approve is None or (approve and request.kind == "question" and answer):
        return "answered"
    return "approved" if approve else "denied"


def card(request: Request) -> RequestCard:
    return RequestCard.model_validate(plain.request(request))


TOOLS = (
    Tool(
        name="request_create",
        group="requests",
        words="Ask one agent or person. The answer comes to your inbox; you need not wait for it.",
        effect="store",
        arguments=Create,
        result=RequestCard,
        function=create,
        text=written,
        roles=WRITERS,
    ),
    Tool(
        name="request_respond",
        group="requests",
        words="Answer, approve or deny what you were asked, once.",
        effect="store",
        arguments=Respond,
        result=RequestCard,
        function=respond,
        text=lambda result: result.state,
        roles=WRITERS,
    ),
    Tool(
        name="request_list",
        group="requests",
        words="See what was asked and is not answered yet.",
        effect="none",
        arguments=Look,
        result=RequestCards,
        function=look,
        text=lambda result: listed(result.requests),
        roles=EVERYONE,
    ),
)
