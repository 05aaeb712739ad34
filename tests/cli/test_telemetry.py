"""A run tells a collector of OpenTelemetry what its agents did, before it ends."""

import asyncio

from tests.cli.terminal import Terminal
from tests.runner.collector import collecting

WORKFLOW = """
name: asking
context: {document_owner: none}
agents:
  ann:
    answers:
      - calls: [{channel_send: {message: "I look into it."}}]
        usage: {input_tokens: 1200, output_tokens: 80, cost: 0.01}
      - {say: Done., usage: {input_tokens: 1400, output_tokens: 20, cost: 0.0025}}
kickoff: "@ann look at it."
"""


async def test_a_run_sends_what_its_agents_did_and_the_same_sum(terminal: Terminal) -> None:
    (terminal.folder / "asking.yaml").write_text(WORKFLOW)
    async with collecting() as collector:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        await asyncio.to_thread(terminal.ok, "run", "asking.yaml", env=env)
        received = await collector.next()
    assert [one.name for one in received.spans] == [
        "invoke_agent ann",
        "chat scripted",
        "execute_tool channel_send",
        "chat scripted",
    ]
    spent = sum(one.attributes.get("moot.cost.dollars", 0.0) for one in received.spans)
    total = (await asyncio.to_thread(terminal.ok, "cost", "--json")).json["total"]
    assert round(spent, 6) == total["cost"] == 0.0125
    assert "look" not in received.body


async def test_without_a_collector_a_run_ends_well_and_says_so_once(terminal: Terminal) -> None:
    (terminal.folder / "asking.yaml").write_text(WORKFLOW)
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    ended = await asyncio.to_thread(terminal.ok, "run", "asking.yaml", env=env)
    assert ended.err.count("The collector of OpenTelemetry does not take what was done") == 1
