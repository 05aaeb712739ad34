"""A small MCP server over stdio that needs nothing but Python."""

import json
import sys
from typing import Any

STOCK = {"lamps": 12, "tables": 3}
COUNT = {
    "name": "count",
    "description": "How many there are of a thing.",
    "inputSchema": {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]},
    "annotations": {"readOnlyHint": True},
}


def answer(method: str, given: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "stock", "version": "1"}
        return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [COUNT]}
    if method == "tools/call" and given["name"] == "count":
        return {"content": [{"type": "text", "text": str(STOCK.get(given["arguments"]["thing"], 0))}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    unknown = {"code": -32601, "message": "There is no such method."}
    told = {"error": unknown} if result is None else {"result": result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}) + "\n")
    sys.stdout.flush()
