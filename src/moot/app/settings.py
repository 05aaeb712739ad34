"""What `.moot/config.yaml` says about hosts: how often a failed attempt is repeated, how long one may take, and how
people are told that they are needed."""

from collections.abc import Mapping
from datetime import timedelta

from moot.app.project import ConfigInvalid
from moot.core import durations
from moot.core.json import Json
from moot.core.servers import Server, declared
from moot.runner.retry import Retry
from moot.workflow.workflow import NOTIFY_TIMEOUT, Notify

TIME_LIMIT = timedelta(hours=1)
_KEYS = frozenset(("attempts", "backoff", "multiplier"))


def retry(config: Mapping[str, Json]) -> Retry:
    """`retry: {attempts: 3, backoff: 1s, multiplier: 2}`, each of them optional."""
    found = config.get("retry", {})
    if not isinstance(found, Mapping) or found.keys() - _KEYS:
        raise ConfigInvalid(
            "`retry` in config.yaml is wrong.", "Write retry: {attempts: 3, backoff: 1s, multiplier: 2}."
        )
    attempts, multiplier = found.get("attempts", 3), found.get("multiplier", 2)
    if not isinstance(attempts, int) or isinstance(attempts, bool) or not 1 <= attempts <= 100:
        raise ConfigInvalid("`retry.attempts` in config.yaml is no number from 1 to 100.", "Write attempts: 3.")
    if not isinstance(multiplier, int | float) or isinstance(multiplier, bool) or not 1 <= multiplier <= 100:
        raise ConfigInvalid("`retry.multiplier` in config.yaml is no number from 1 to 100.", "Write multiplier: 2.")
    return Retry(attempts, durations.parse(str(found.get("backoff", "1s"))), float(multiplier))


def time_limit(config: Mapping[str, Json]) -> timedelta:
    """`attempt_timeout: 1h`."""
    found = config.get("attempt_timeout")
    return TIME_LIMIT if found is None else durations.parse(str(found))


def notify(config: Mapping[str, Json]) -> Notify | None:
    """`notify: COMMAND`, or `notify: {shell: COMMAND, timeout: 30s}`."""
    found = config.get("notify")
    if found is None:
        return None
    said = found if isinstance(found, Mapping) else {"shell": found}
    command = said.get("shell")
    if said.keys() - {"shell", "timeout"} or not isinstance(command, str) or not command.strip():
        raise ConfigInvalid(
            "`notify` in config.yaml is wrong.", "Write notify: COMMAND, or {shell: COMMAND, timeout: 30s}."
        )
    timeout = said.get("timeout")
    return Notify(command, NOTIFY_TIMEOUT if timeout is None else durations.parse(str(timeout)))


def servers(config: Mapping[str, Json]) -> dict[str, Server]:
    """The MCP servers whose tools steps may call."""
    found = config.get("mcp_servers", config.get("mcpServers"))
    return {} if found is None else declared(found)
