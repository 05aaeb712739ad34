"""A lead from outside, for stories: a real MCP client that plans, answers and judges, in a process that may be killed.

Whatever it had done when it was killed, it does again what its inbox says, and acknowledges only then.

    python -m tests.stories.team_lead FOLDER
"""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any, cast

from mcp import Client

from tests.stories.house import House

LANGUAGES = {"german": "de", "french": "fr", "italian": "it"}


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What it answers; a refusal is an answer, too: what is done is done."""
    result = await client.call_tool(tool, arguments)
    return cast(dict[str, Any], result.structured_content or {})


async def heed(client: Client, message: str) -> None:
    if found := re.search(r"\[GOAL\][\s\S]*workflow (wf_\w+)", message):
        tasks = [
            {"name": name, "assigned_agent": f"worker-{number}", "files_likely_affected": [f"words/{short}.txt"]}
            for number, (name, short) in enumerate(LANGUAGES.items(), 1)
        ]
        await call(client, "workflow_set_plan", id=found[1], plan={"summary": "one word each", "tasks": tasks})
    elif "no Italian dictionary" in message:
        await call(client, "channel_send", to=["worker-3"], kind="answer", message="Take Ciao.")
    elif message.startswith("Review round"):
        await call(client, "review_report", verdict="approved")


async def lead(folder: Path) -> None:
    async with House(folder).client("--as", "lead@team") as client:
        while True:
            inbox = await call(client, "inbox_check", wait_seconds=20)
            for one in inbox.get("messages", []):
                await heed(client, one["entry"]["message"])
                await call(client, "inbox_ack", until=one["entry"]["id"])


if __name__ == "__main__":
    asyncio.run(lead(Path(sys.argv[1])))
