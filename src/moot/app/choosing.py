"""Which backend runs an agent, and why. Said is said; else the key of the model's provider decides, then its program.
Where none of them is there, nothing is taken instead."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from moot.app import backends
from moot.app.programs import MODELS_EXTRA, PROGRAMS
from moot.workflow import models
from moot.workflow.catalog import Catalog, Provider
from moot.workflow.workflow import AgentDefinition, Backend

_COME_THEMSELVES: frozenset[Backend] = frozenset(("human", "external"))


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to choose from."""

    environ: Mapping[str, str] = field(repr=False)
    backends: frozenset[str] = backends.NAMES
    has_models: bool = True  # the extra that model APIs need

    def runs(self, backend: str) -> bool:
        """Whether this version of moot does."""
        return backend in self.backends

    def has(self, executable: str) -> bool:
        return shutil.which(executable, path=self.environ.get("PATH", os.defpath)) is not None

    def key(self, names: tuple[str, ...]) -> str | None:
        """The first of these variables that is set."""
        return next((name for name in names if self.environ.get(name, "").strip()), None)


class Rehearsal(Machine):
    """A machine where everything is there, because nothing of it is used."""

    __slots__ = ()

    def runs(self, backend: str) -> bool:
        return True

    def has(self, executable: str) -> bool:
        return True

    def key(self, names: tuple[str, ...]) -> str | None:
        return names[0] if names else None


def this_machine() -> Machine:
    return Machine(os.environ, has_models=find_spec("pydantic_ai") is not None)


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs an agent."""

    backend: Backend
    model: str | None
    why: str  # what decided: where it is said, or what was found
    account: str = ""  # the login or the key that it uses; empty where it needs none
    is_said: bool = True  # by somebody, and not found by looking around

    @property
    def is_program(self) -> bool:
        return self.backend in PROGRAMS


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why nothing runs an agent here, and everything that would help."""

    fact: str
    remedies: tuple[str, ...]


def choose(agent: AgentDefinition, known: Catalog, machine: Machine, said_by: str = "") -> Choice | Obstacle:
    """`said_by` is where the agent's backend was said."""
    found = _found(agent, known, machine, said_by)
    if isinstance(found, Choice) and agent.backend is None:
        found = replace(found, is_said=False)
    if isinstance(found, Choice) and agent.workspace == "worktree":
        return Obstacle("a worktree of its own cannot be made yet", ("Write workspace: shared.",))
    return found


def settled(agent: AgentDefinition, choice: Choice, known: Catalog) -> AgentDefinition:
    """The agent as it is kept with the run, so that whoever goes on with it takes the same."""
    if choice.backend != "api" or agent.model is None:
        return replace(agent, backend=choice.backend)
    endpoint = models.endpoint(agent.model, known)
    own = models.provider_of(agent.model, known)
    is_elsewhere = own is not None and own.base_url is not None and agent.base_url is None
    # Whoever only speaks the language of another is shown its own key, and no other.
    env = tuple(dict.fromkeys((*agent.env, *endpoint.keys))) if is_elsewhere else agent.env
    address = agent.base_url or endpoint.base_url
    return replace(agent, backend="api", model=endpoint.model, base_url=address, env=env)


def _found(agent: AgentDefinition, known: Catalog, machine: Machine, said_by: str) -> Choice | Obstacle:
    backend = agent.backend
    if backend is None:
        return _by_model(agent, known, machine)
    if backend in _COME_THEMSELVES:
        return Choice(backend, agent.model, said_by)
    if not machine.runs(backend):
        return Obstacle(f"the backend {backend} cannot be run by this version of moot", _others(agent, machine))
    if backend == "api":
        return _api(agent, known, machine, said_by)
    if backend in PROGRAMS:
        return _program(agent, backend, machine, said_by)
    if backend == "command" and not agent.command:
        return Obstacle("it has no command", ("Write command: PROGRAM.",))
    return Choice(backend, agent.model, said_by)


def _by_model(agent: AgentDefinition, known: Catalog, machine: Machine) -> Choice | Obstacle:
    provider = models.provider_of(agent.model or "", known)
    if provider is None:
        return Obstacle("it has neither a model nor a backend", ("Say what runs it, as in model: sonnet.",))
    key = machine.key(provider.keys)
    if agent.base_url is not None:
        return _api(agent, known, machine, "its base_url")
    if key is not None or not provider.keys:
        return _api(agent, known, machine, f"{key} is set" if key else f"{provider.name} needs no key")
    if provider.program is not None and machine.has(PROGRAMS[provider.program].executable):
        return _program(agent, provider.program, machine, f"{provider.program} is installed")
    return Obstacle(f"nothing here can run {agent.model}", tuple(_remedies(provider)))


def _remedies(provider: Provider) -> Iterator[str]:
    if provider.keys:
        yield f"Set {' or '.join(provider.keys)}."
    if provider.program is not None:
        yield f"Install {provider.program}: {PROGRAMS[provider.program].install}"
    yield "Choose another with --backend, or another model."
    yield "Let somebody join in its place: backend: external, then moot mcp --as NAME."


def _api(agent: AgentDefinition, known: Catalog, machine: Machine, why: str) -> Choice | Obstacle:
    provider = models.provider_of(agent.model or "", known)
    if provider is None:
        return Obstacle("the backend api needs a model", ("Write model: provider/name.",))
    if not machine.runs("api"):
        return Obstacle("the backend api cannot be run by this version of moot", _others(agent, machine))
    if not machine.has_models:
        return Obstacle("model APIs need an extra that is not installed", (f"Run: {MODELS_EXTRA}", *_else(provider)))
    keys = agent.env if agent.base_url is not None else provider.keys
    key = machine.key(tuple(name for name in keys if name.endswith(("_KEY", "_TOKEN"))))
    if key is None and provider.keys and agent.base_url is None:
        return Obstacle(f"there is no key for {provider.name}", tuple(_remedies(provider)))
    address = agent.base_url or provider.base_url
    account = f"key {key}" if key else "no key"
    return Choice("api", agent.model, why, f"{account} at {address}" if address else account)


def _program(agent: AgentDefinition, backend: Backend, machine: Machine, why: str) -> Choice | Obstacle:
    program = PROGRAMS[backend]
    if not machine.runs(backend):
        return Obstacle(f"the backend {backend} cannot be run by this version of moot", _others(agent, machine))
    executable = agent.command[0] if agent.command else program.executable
    if not machine.has(executable):
        remedy = "Mend the agent's command." if agent.command else f"Install it: {program.install}"
        return Obstacle(f"the program {executable} was not found", (remedy, "Choose another with --backend."))
    key = machine.key(program.keys)
    if agent.is_isolated and key is None:
        fact = "it is isolated from your login, and there is no key for it"
        return Obstacle(fact, (f"Set {' or '.join(program.keys)}.", "Leave out `isolated`."))
    return Choice(backend, agent.model, why, f"key {key}" if key else "your login")


def _else(provider: Provider) -> tuple[str, ...]:
    return () if provider.program is None else (f"Or choose its program: --backend {provider.program}.",)


def _others(agent: AgentDefinition, machine: Machine) -> tuple[str, ...]:
    names = ", ".join(sorted(machine.backends | _COME_THEMSELVES))
    return (f"Choose one of {names}.", f"Let somebody join in its place: moot mcp --as {agent.name}.")
