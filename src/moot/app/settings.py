"""What `.moot/config.yaml` says about hosts: how often a failed attempt is repeated, how long one may take, and how
people are told that they are needed."""

from collections.abc import Mapping
from datetime import timedelta

from moot.app.project import ConfigInvalid
from moot.core import durations
from moot.core.errors import InvalidInput
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
    backoff = _duration("retry.backoff", found["backoff"]) if "backoff" in found else timedelta(seconds=1)
    return Retry(attempts, backoff, float(multiplier))


def time_limit(config: Mapping[str, Json]) -> timedelta:
    """`attempt_timeout: 1h`."""
    found = config.get("attempt_timeout")
    return TIME_LIMIT if found is None else _some("attempt_timeout", found)


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
    return Notify(command, NOTIFY_TIMEOUT if timeout is None else _some("notify.timeout", timeout))


def _some(key: str, said: Json) -> timedelta:
    found = _duration(key, said)
    if not found:
        raise ConfigInvalid(f"`{key}` in config.yaml is no time at all.", f"Write {key.rpartition('.')[2]}: 30s.")
    return found


def _duration(key: str, said: Json) -> timedelta:
    try:
        return durations.parse(str(said))
    except InvalidInput as error:
        raise ConfigInvalid(f"`{key}` in config.yaml: {error.fact}", error.remedy) from error


def check(config: Mapping[str, Json]) -> None:
    """ConfigInvalid, or InvalidInput of a server, if a host would refuse to begin with it."""
    retry(config)
    time_limit(config)
    notify(config)
    servers(config)


def servers(config: Mapping[str, Json]) -> dict[str, Server]:
    """The MCP servers whose tools steps may call."""
    found = config.get("mcp_servers", config.get("mcpServers"))
    return {} if found is None else declared(found)
