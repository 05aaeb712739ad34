"""A model API on loopback that does what a scenario says, over the providers' real wire protocols.

It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Google generateContent, each with
server-sent events and without, whichever the client asks for. So it serves SDKs as well as the real `claude` (point
ANTHROPIC_BASE_URL at `server.url`), `codex` (a provider with base_url `server.v1` and wire_api "responses"), `gemini`
(GOOGLE_GEMINI_BASE_URL = `server.url`) and `opencode`.

    async with fake_models.serve([say("hello"), Status(529), call("channel_send", message="hi")]) as server:
        ...                                   # clients talk to server.url or server.v1
    assert server.asked[0].last_text == "…"   # every request, in order; server.surplus == 0: no more than were answered

A scenario is a list of answers by order, or a function of the request, plain or async (which may await an event, so
that no test needs to sleep); a list may hold such functions too. A function sees an `Asked`, the same for all wires:

    def scenario(asked: Asked) -> Answer:
        if (mail := asked.result_of("mcp__moot__inbox_check")) is not None:
            return say(f"I have read {mail}")
        return call("mcp__moot__inbox_check")       # or call(asked.tool("inbox_check")): whatever prefix it has here

Of `Asked`: `wire`, `model`, `system`, `turns`, `tools` (offered names), `results`, `result_of(tool)`,
`has_called(tool)`, `tool(ending)`, `text` (all words said), `last_text` (the last words of the user), `is_stream`,
`headers` (lower case), `body` (as it came). The tools of a namespace of the Responses API (Codex puts those of an MCP
server into one) appear as `namespace__name`, in requests and in replies. Programs make small requests of their own (a
title, a summary): let a function tell them apart by `tools`, `model` or `system`. Probes, GET and counts of tokens are
answered as one would expect and kept in `server.others`.

Replies: `say(text, stop=…)`, `call(name, **arguments)`, `calls(Call(…), Call(…), text=…)`, or a whole
`Reply(parts, stop, used, piece, pause)`; `Reply(…, pause=0.05)` drips. Stops are end, tools, max_tokens, refusal,
pause, stop_sequence. Faults: `Status(code, message, headers)`, `rate_limited(seconds)`, `Dropped(reply, after)`,
`Cut(reply, after)`, `Hang(reply, after)`, `Malformed(reply, after)`, `ErrorEvent(reply, after, message)`; a refused
connection is `nobody()` or `await server.refuse()` (and `come_back()`). `await server.until_asked(n)` waits for the
nth request, `until_quiet()` until nobody is being answered, as after a cancel. What a scenario raises is raised by
`serve` at its end.
"""

from tests.fake_models.asked import Asked as Asked
from tests.fake_models.asked import AskedCall as AskedCall
from tests.fake_models.asked import Result as Result
from tests.fake_models.asked import Turn as Turn
from tests.fake_models.replies import Answer as Answer
from tests.fake_models.replies import Call as Call
from tests.fake_models.replies import Cut as Cut
from tests.fake_models.replies import Dropped as Dropped
from tests.fake_models.replies import ErrorEvent as ErrorEvent
from tests.fake_models.replies import Hang as Hang
from tests.fake_models.replies import Malformed as Malformed
from tests.fake_models.replies import Reply as Reply
from tests.fake_models.replies import Scenario as Scenario
from tests.fake_models.replies import Status as Status
from tests.fake_models.replies import Text as Text
from tests.fake_models.replies import Used as Used
from tests.fake_models.replies import call as call
from tests.fake_models.replies import calls as calls
from tests.fake_models.replies import rate_limited as rate_limited
from tests.fake_models.replies import say as say
from tests.fake_models.server import FakeModels as FakeModels
from tests.fake_models.server import nobody as nobody
from tests.fake_models.server import serve as serve
