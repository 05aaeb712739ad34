"""MCP's requests answered from the table of tools, each on behalf of the caller of that very request."""

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, INVALID_REQUEST
from opentelemetry import trace
from pydantic import BaseModel
from starlette.requests import Request

from moot.core.caller import Caller
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.keys import KEY, KEY_HEADER, LATER, MAIL, SPELLING_HEADER
from moot.core.tool import Tool, ToolAnswer
from moot.core.version import VERSION
from moot.edge.refusals import NotServed
from moot.ledger.operations import Key
from moot.mcp import identity, prompts, resources, schemas
from moot.mcp.notices import Notice, Notices, Wants
from moot.mcp.sessions import Sessions
from moot.store.store import Store
from moot.tools import dispatch, spellings, table
from moot.tools.around import Around
from moot.tools.spellings import Spelling

INSTRUCTIONS = (
    "Talk in the channel with channel_send; @name wakes that agent. "
    "inbox_check shows what waits for you, inbox_ack marks it as done. "
    "What is to last goes into documents: document_read, document_write."
)
_LONGEST_KEY = 200

Context = ServerRequestContext[Any, Any]


class _Notification(BaseModel):
    """A notification that MCP does not define."""

    method: str
    params: Mapping[str, Any]


def is_quick(message: Mapping[str, Any], functions: Mapping[str, Tool]) -> bool:
    """Whether the answer comes at once: it does unless a call may wait for something, or work outside the store."""
    if message.get("method") != "tools/call":
        return True
    params = cast(Mapping[str, Any], message.get("params", {}))
    name = spellings.own(str(params.get("name")))
    tool = table.TOOLS.get(name) or functions.get(name)
    return tool is None or not (tool.waits or tool.effect == "outside")


class Protocol:
    """The handlers of MCP's methods, in the SDK's server."""

    def __init__(self, store: Store, notices: Notices, sessions: Sessions, around: Around) -> None:
        self._store = store
        self._around = around
        self._notices = notices
        self._sessions = sessions
        self._calls: set[asyncio.Task[Any]] = set()
        self._is_stopping = False
        self.server = Server[Any](
            "moot",
            version=VERSION,
            instructions=INSTRUCTIONS,
            # No argument travels in a header, so there is nothing to check; without this, every call lists all tools.
            get_tool_input_schema=lambda _: None,
            on_list_tools=self.list_tools,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource,
            on_subscribe_resource=self.subscribe,
            on_unsubscribe_resource=self.unsubscribe,
            on_subscriptions_listen=self.listen,
        )
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            self.server.middleware.clear()  # nobody records spans, and each would cost a tenth of a call
        self.server.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)

    def break_off(self) -> None:
        """Answer the calls that still wait: the server is going."""
        self._is_stopping = True
        for task in self._calls:
            task.cancel()

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered, spelling = table.offered(_caller(context), self._around.functions), self._spelling(context)
        return types.ListToolsResult(tools=[schemas.described(tool, spelling) for tool in offered])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        caller = _caller(context)
        try:
            key = _key(context, caller)
        except InvalidInput as error:
            return _result(dispatch.refusal(error))
        arguments, spelling = cast(Mapping[str, Json], params.arguments or {}), self._spelling(context)
        with self._breakable():
            answer = await dispatch.perform(
                self._store,
                caller,
                spellings.own(params.name) if spelling == "dotted" else params.name,
                arguments,
                key,
                tells_mail=_hears_mail(context),
                around=self._around,
            )
            return _result(spellings.answered(answer, spelling))

    @contextmanager
    def _breakable(self) -> Generator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._is_stopping:
                raise
            task.uncancel()
            raise MCPError(CONNECTION_CLOSED, "The server is stopping; whether this was done is not known.") from None
        finally:
            self._calls.discard(task)

    async def list_prompts(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.listed(_caller(context)))

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        found = prompts.get(_caller(context), params.name, params.arguments or {}, self._spelling(context))
        if found is None:
            raise _not_found(f"There is no prompt {params.name[:80]!r} for you.", "See prompts/list.")
        return found

    async def list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        caller = _caller(context)
        return types.ListResourcesResult(resources=await self._store.read(lambda tx: resources.listed(tx, caller)))

    async def list_resource_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """There are none: every resource is listed."""
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        caller = _caller(context)
        found = await self._store.read(lambda tx: resources.read(tx, caller, params.uri))
        if found is None:
            raise _unknown(params.uri)
        return types.ReadResourceResult(contents=[found])

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        _check(_caller(context), params.uri)
        resources.subscribe(self._wants(context), params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        _check(_caller(context), params.uri)
        resources.unsubscribe(self._wants(context), params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """The stream of the stateless revision: it lasts as long as this request."""
        caller, asked = _caller(context), params.notifications
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: context.request_id}
        wants = Wants(mentions=(asked.model_extra or {}).get("mentions") is True)
        uris = [uri for uri in asked.resource_subscriptions or () if resources.is_for(caller, uri)]
        for uri in uris[: resources.MOST_SUBSCRIPTIONS]:
            resources.subscribe(wants, uri)
        honored = {
            **({"resourceSubscriptions": uris[: resources.MOST_SUBSCRIPTIONS]} if uris else {}),
            **({"mentions": True} if wants.mentions else {}),
        }
        acknowledged = Notice("notifications/subscriptions/acknowledged", {"notifications": honored})
        async with self._notices.listen(identity.proof(_scope(context)), caller.instance, wants) as listener:
            await _notify(context, acknowledged, meta)
            async for notice in listener.notices():
                await _notify(context, notice, meta)
        return types.SubscriptionsListenResult(_meta=meta)

    def _spelling(self, context: Context) -> Spelling:
        """As the client wants the names of tools, or as the server was told."""
        said = cast(Request, context.request).headers.get(SPELLING_HEADER)
        return "dotted" if (said or self._around.spelling) == "dotted" else "underscored"

    def _wants(self, context: Context) -> Wants:
        session = cast(Request, context.request).headers.get("mcp-session-id")
        if session is None:
            raise MCPError(INVALID_REQUEST, "There is no session to subscribe for.")
        return self._sessions.wants(session)


def _caller(context: Context) -> Caller:
    return identity.attached(_scope(context))


def _scope(context: Context) -> Any:
    """The SDK hands each handler the HTTP request that its message came in."""
    return cast(Request, context.request).scope


def _key(context: Context, caller: Caller) -> Key | None:
    """The name the caller gave this call, so that a repetition is recognised."""
    meta = cast(Mapping[str, object], context.meta or {})
    given = cast(Request, context.request).headers.get(KEY_HEADER)
    if KEY not in meta and given is None:
        return None
    key = meta.get(KEY, given)
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY:
        raise InvalidInput(f"{KEY} must be a string of 1 to {_LONGEST_KEY} characters.", "Shorten it.")
    return Key(scope=identity.owner_of(caller), key=key)


def _hears_mail(context: Context) -> bool:
    """Programs that show the answer to nobody say so."""
    return cast(Mapping[str, object], context.meta or {}).get(MAIL) != LATER


def _result(answer: ToolAnswer) -> dict[str, Any]:
    """As a plain dict: the SDK checks it against the revision's schema, once is enough."""
    return {
        "content": [{"type": "text", "text": answer.text}],
        **({} if answer.is_text_only else {"structuredContent": answer.structured}),
        "isError": answer.is_error,
        "resultType": "complete",
    }


def _check(caller: Caller, uri: str) -> None:
    if not resources.is_for(caller, uri):
        raise _unknown(uri)


def _unknown(uri: str) -> MCPError:
    return _not_found(f"There is no resource {uri[:80]!r} for you.", "See resources/list.")


def _not_found(fact: str, remedy: str) -> MCPError:
    return MCPError(INVALID_PARAMS, f"{fact} {remedy}", {"code": NotServed.code, "remedy": remedy})


async def _notify(context: Context, notice: Notice, meta: Mapping[str, Any]) -> None:
    notification = _Notification(method=notice.method, params={**notice.params, "_meta": meta})
    # The SDK's type names only the notifications that MCP defines; it sends whatever has method and params.
    await context.session.send_notification(
        cast(types.ServerNotification, notification), related_request_id=context.request_id
    )
