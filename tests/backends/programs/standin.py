"""A program that pretends to be one of the agent programs: it does what a script of steps says, and tells what it saw.

Run as `python standin.py SCRIPT …`. SCRIPT is a JSON file: a list of steps, each one of
  {"print": EVENT}           a line of JSON on stdout      {"raw": TEXT}  text as it is    {"stderr": TEXT}
  {"connect": true}          come to moot's server with the token      {"call": [TOOL, ARGUMENTS]}  and call a tool
  {"read": N}                read N lines of stdin         {"read_all": true}    {"close": true}  stdin
  {"orphan": true}           leave a child in a session of its own that ignores SIGTERM
  {"signal": N}              kill itself                   {"exit": N}
  {"hang": true}             for ever, deaf to SIGTERM     {"secrets": true}  print all it was given as an error
  {"write": PATH}            {"chatter": true}  print lines for ever
What it was started with is written to SCRIPT.seen: arguments, environment, stdin, and the files it was pointed to.
"""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, TextIO

script = Path(sys.argv[1])
seen: dict[str, Any] = {"argv": sys.argv[2:], "env": dict(os.environ), "stdin": "", "files": {}}
for word in sys.argv[2:]:
    if word.startswith("/") and os.path.isfile(word):
        seen["files"][os.path.basename(word)] = Path(word).read_text()
for folder in (".cursor",):
    for file in Path(folder).glob("*"):
        seen["files"][f"{folder}/{file.name}"] = file.read_text()


def note() -> None:
    script.with_suffix(".seen").write_text(json.dumps(seen))


def connect(method: str = "ping", tool: str = "", arguments: object = None) -> None:
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
    headers = {
        "Authorization": f"Bearer {os.environ['MOOT_TOKEN']}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    if tool:
        prefix, version = "io.modelcontextprotocol/", "2026-07-28"
        meta: dict[str, Any] = {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}
        meta[f"{prefix}clientInfo"] = {"name": "agent", "version": "1"}
        body["params"] = {"name": tool, "arguments": arguments, "_meta": meta}
        headers |= {"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": tool}
    request = urllib.request.Request(os.environ["MOOT_URL"], json.dumps(body).encode(), headers)
    try:
        urllib.request.urlopen(request, timeout=20).read()
    except urllib.error.HTTPError as error:  # whatever it is told, it was there
        error.read()


def orphan() -> None:
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        while True:
            time.sleep(60)


def tell(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def play(step: dict[str, Any]) -> None:  # noqa: PLR0912  # a case for each kind of step
    match step:
        case {"print": event}:
            tell(sys.stdout, json.dumps(event, ensure_ascii=False) + "\n")
        case {"raw": text}:
            tell(sys.stdout, text)
        case {"stderr": text}:
            tell(sys.stderr, text + "\n")
        case {"connect": _}:
            connect()
        case {"call": [tool, arguments]}:
            connect("tools/call", tool, arguments)
        case {"read": count}:
            for _ in range(count):
                seen["stdin"] += sys.stdin.readline()
        case {"read_all": _}:
            seen["stdin"] += sys.stdin.read()
        case {"close": _}:
            os.close(0)
        case {"orphan": _}:
            orphan()
        case {"write": place}:
            Path(place).write_text("here")
        case {"secrets": _}:
            tell(sys.stderr, json.dumps(dict(os.environ)))
        case {"signal": number}:
            note()
            os.kill(os.getpid(), number)
        case {"exit": code}:
            note()
            os._exit(code)
        case {"hang": _}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            note()
            while True:
                time.sleep(60)
        case {"chatter": _}:
            note()
            while True:
                tell(sys.stdout, "still here\n")
                time.sleep(0.05)
        case _:
            raise ValueError(step)


note()
for step in json.loads(script.read_text()):
    play(step)
note()
