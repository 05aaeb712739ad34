"""Which backend runs an agent, and why. Said is said; else the key of the model's provider decides, then its program.
Where none of them is there, nothing is taken instead."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from importlib.util import find_spec
from pathlib import Path

from moot.app import backends
from moot.backends import inside
from moot.backends.programs.known import PROGRAMS, AgentProgram
from moot.core import accounts
from moot.core.accounts import Account, NoAccount, Service, Wish
from moot.core.permissions import Permissions
from moot.core.records import record
from moot.models import opening
from moot.workflow import models
from moot.workflow.catalog import Catalog, Provider
from moot.workflow.members import SHELL
from moot.workflow.workflow import AgentDefinition, Backend, Fallback

_PLAIN_FILE = re.compile(r"\s*([\w.+@%-]*/[\w./+@%-]*)(?:\s|$)")
_SHARED = "Write workspace: shared."
_MODEL = "sonnet"  # if nothing is said, and only its key is there
_COME_THEMSELVES: frozenset[Backend] = frozenset(("human", "external"))


@record
class Machine:
    """What there is to choose from."""

    environ: Mapping[str, str] = field(repr=False)
    backends: frozenset[str] = backends.NAMES
    has_models: bool = True  # the extra that model APIs need
    folder: Path = field(default_factory=Path)  # where agents work, from which their commands are meant
    may_change: bool = False  # setup runs before the agents do, and may make the programs that they are

    def runs(self, backend: str) -> bool:
        """Whether this version of moot does."""
        return backend in self.backends

    def has(self, executable: str) -> bool:
        if os.sep in executable:
            return self.may_change or shutil.which((self.folder / executable).absolute()) is not None
        return shutil.which(executable, path=inside.path(self.environ)) is not None

    @property
    def has_repository(self) -> bool:
        """Whether the folder is in one; git itself is asked when something is wanted of it."""
        here = self.folder.absolute()
        return any((one / ".git").exists() for one in (here, *here.parents))

    def key(self, names: tuple[str, ...]) -> str | None:
        """The first of these variables that is set."""
        return accounts.first_set(names, self.environ)

    def lacks(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the variables that are not there at all."""
        return tuple(name for name in names if name not in self.environ)

    def account(self, service: Service, wish: Wish) -> Account:
        return accounts.resolve(service, wish, self.environ)


class Rehearsal(Machine):
    """A machine where everything is there, because nothing of it is used."""

    __slots__ = ()

    def runs(self, backend: str) -> bool:
        return True

    def has(self, executable: str) -> bool:
        return True

    @property
    def has_repository(self) -> bool:
        return True

    def key(self, names: tuple[str, ...]) -> str | None:
        return names[0] if names else None

    def lacks(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return ()

    def account(self, service: Service, wish: Wish) -> Account:
        every = dict.fromkeys((*service.all_keys, *wish.env), "there")
        return accounts.resolve(replace(service, has_login=None), wish, every)


def this_machine(folder: Path | None = None) -> Machine:
    return Machine(os.environ, has_models=find_spec("pydantic_ai") is not None, folder=folder or Path())


@record
class Choice:
    """What runs an agent."""

    backend: Backend
    model: str | None
    why: str  # what decided: where it is said, or what was found
    account: str = ""  # the login or the key that it uses; empty where it needs none
    is_said: bool = True  # by somebody, and not found by looking around
    key: str | None = None  # the variable that holds the key
    doubt: str = ""  # why it may not work all the same
    fallbacks: tuple["Choice", ...] = ()  # what is asked when it does not answer

    @property
    def can_ask(self) -> bool:
        """Before it acts. Only programs have hands of their own, and not all of them can."""
        return self.backend in PROGRAMS and PROGRAMS[self.backend].can_ask

    def warnings(self, permissions: Permissions) -> tuple[str, ...]:
        """What is in doubt, and what it may not do because it cannot ask."""
        denied = PROGRAMS[self.backend].denied(permissions) if self.backend in PROGRAMS else ()
        return (*([self.doubt] if self.doubt else []), *denied)


@record
class Obstacle:
    """Why nothing runs an agent here, and everything that would help."""

    fact: str
    remedies: tuple[str, ...]


def remedy(obstacles: Iterable[Obstacle]) -> str:
    """All that would help, one a line."""
    return "\n".join(dict.fromkeys(one for obstacle in obstacles for one in obstacle.remedies))


def choose(agent: AgentDefinition, known: Catalog, machine: Machine, said_by: str = "") -> Choice | Obstacle:
    """`said_by` is where the agent's backend was said. Of several models, those that can be asked here."""
    wanted = [agent, *(replace(agent, model=one.model) for one in agent.fallbacks)]
    found = [_one(each, known, machine, said_by) for each in wanted]
    first, *others = [one for one in found if isinstance(one, Choice)] or [found[0]]
    if isinstance(first, Obstacle) or not agent.fallbacks:
        return first
    left_out = [
        f"{each.model} is left out: {one.fact}"
        for each, one in zip(wanted, found, strict=True)
        if isinstance(one, Obstacle)
    ]
    doubt = "; ".join([*([first.doubt] if first.doubt else []), *left_out])
    return replace(first, doubt=doubt, fallbacks=tuple(one for one in others if isinstance(one, Choice)))


def _one(agent: AgentDefinition, known: Catalog, machine: Machine, said_by: str) -> Choice | Obstacle:
    found = _found(agent, known, machine, said_by)
    if isinstance(found, Choice) and agent.backend is None:
        found = replace(found, is_said=False)
    if isinstance(found, Choice) and agent.workspace == "worktree":
        return _worktree(found, machine) or found
    return found


def _worktree(choice: Choice, machine: Machine) -> Obstacle | None:
    """What keeps it from having one."""
    if choice.backend in _COME_THEMSELVES:
        fact = "who comes by itself has no worktree from the beginning"
        return Obstacle(fact, ("Write workspace: shared; it can ask for one with workspace_create.",))
    return no_worktree(machine, _SHARED)


def no_worktree(machine: Machine, otherwise: str) -> Obstacle | None:
    """What keeps anybody from having one here; `otherwise` is how to do without."""
    if not machine.has("git"):
        return Obstacle("the program git was not found, and it wants a worktree", ("Install git.", otherwise))
    if not machine.has_repository:
        return Obstacle("there is no git repository in which it could have a worktree", ("Run: git init", otherwise))
    return None


def first(machine: Machine) -> Mapping[str, str] | None:
    """What runs agents here of whom nobody says so: the first program with an account, else any program, else a model
    whose key is there."""
    here = [one for one in PROGRAMS.values() if machine.runs(one.name) and machine.has(one.executable)]
    ready = [one for one in here if _has_account(one, machine)]
    if found := [*ready, *here]:
        return {"backend": found[0].name}
    is_reached = machine.has_models and machine.key(accounts.PROVIDERS["anthropic"].keys) is not None
    return {"model": _MODEL} if is_reached else None


def nothing() -> Obstacle:
    """There is none: everything that would help."""
    programs = [f"Install {one.name}: {one.install}" for one in PROGRAMS.values()]
    keys = " or ".join(accounts.PROVIDERS["anthropic"].keys)
    return Obstacle("Nothing here can run agents.", (*programs, f"Set {keys}.", "Say what does, with --backend."))


def _has_account(program: AgentProgram, machine: Machine) -> bool:
    try:
        return machine.account(program.service(), Wish()).login != "missing"
    except NoAccount:
        return False


def settled(agent: AgentDefinition, choice: Choice, known: Catalog) -> AgentDefinition:
    """The agent as it is kept with the run, so that whoever goes on with it takes the same."""
    others = tuple(one for fallback in choice.fallbacks if (one := _endpoint(agent, fallback, known)) is not None)
    first = _endpoint(agent, choice, known)
    rates = None if first is None else first.rates
    if choice.backend != "api" or first is None:
        return replace(agent, backend=choice.backend, model=choice.model, rates=rates, fallbacks=others)
    place = replace(agent, base_url=first.base_url, env=first.env)
    return replace(place, backend="api", model=first.model, rates=rates, fallbacks=others)


def _endpoint(agent: AgentDefinition, choice: Choice, known: Catalog) -> Fallback | None:
    if choice.model is None:
        return None
    if choice.backend != "api":
        return Fallback(choice.model, rates=known.rates(choice.model))
    endpoint = models.endpoint(choice.model, known)
    # It is asked in this process, so its variables are nothing but the key's: the one that was found, and no other.
    env = () if choice.key is None else (choice.key,)
    return Fallback(endpoint.model, agent.base_url or endpoint.base_url, env, known.rates(choice.model))


def _found(agent: AgentDefinition, known: Catalog, machine: Machine, said_by: str) -> Choice | Obstacle:
    backend = agent.backend
    if backend is None:
        return _by_model(agent, known, machine)
    if backend in _COME_THEMSELVES:
        return Choice(backend, agent.model, said_by)
    if not machine.runs(backend):
        return Obstacle(f"the backend {backend} cannot be run by this version of moot", _others(agent, machine))
    if backend == "api" and agent.model is None and agent.patterns.team is not None:
        return Choice(backend, None, said_by)  # others speak in its place
    if backend == "api":
        return _api(agent, known, machine, said_by)
    if backend in PROGRAMS:
        return _program(agent, backend, machine, said_by)
    if backend == "command":
        return _command(agent, machine, said_by)
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
        return Obstacle("model APIs need an extra that is not installed", (f"Run: {opening.INSTALL}", *_else(provider)))
    try:
        account = machine.account(provider.service, _wish(agent))
    except NoAccount as error:
        named = agent.base_url is not None
        return Obstacle(error.fact, tuple(error.remedy.splitlines()) if named else tuple(_remedies(provider)))
    return Choice("api", agent.model, why, str(account), key=account.key)


def _program(agent: AgentDefinition, backend: Backend, machine: Machine, why: str) -> Choice | Obstacle:
    program = PROGRAMS[backend]
    if not machine.runs(backend):
        return Obstacle(f"the backend {backend} cannot be run by this version of moot", _others(agent, machine))
    executable = agent.command[0] if agent.command else program.executable
    if not machine.has(executable):
        remedy = "Mend the agent's command." if agent.command else f"Install it: {program.install}"
        return Obstacle(f"the program {executable} was not found", (remedy, "Choose another with --backend."))
    if lacking := machine.lacks(agent.env):
        return _lacking(lacking)
    try:
        account = machine.account(program.service(agent.model), _wish(agent))
    except NoAccount as error:
        return Obstacle(error.fact, tuple(error.remedy.splitlines()))
    doubt = f"no login of {backend} was found; log in with: {program.log_in}" if account.login == "missing" else ""
    return Choice(backend, agent.model, why, str(account), key=account.key, doubt=doubt)


def _command(agent: AgentDefinition, machine: Machine, why: str) -> Choice | Obstacle:
    if not agent.command:
        return Obstacle("it has no command", ("Write command: PROGRAM.",))
    if lacking := machine.lacks(agent.env):
        return _lacking(lacking)
    executable = _executable(agent.command)
    if executable and not machine.has(executable):
        return Obstacle(f"the program {executable} was not found", ("Mend the agent's command.",))
    return Choice("command", agent.model, why)


def _executable(command: tuple[str, ...]) -> str:
    """What is started. Of a line for the shell, the file that it begins with, if it plainly does."""
    if command[:2] != SHELL:
        return command[0]
    first = _PLAIN_FILE.match(command[2])
    return first[1] if first else ""


def _wish(agent: AgentDefinition) -> Wish:
    return Wish(agent.base_url, agent.env, agent.is_isolated)


def _lacking(names: tuple[str, ...]) -> Obstacle:
    return Obstacle(f"the environment has no {', '.join(names)}, which it asks for", (f"Set {' and '.join(names)}.",))


def _else(provider: Provider) -> tuple[str, ...]:
    return () if provider.program is None else (f"Or choose its program: --backend {provider.program}.",)


def _others(agent: AgentDefinition, machine: Machine) -> tuple[str, ...]:
    names = ", ".join(sorted(machine.backends | _COME_THEMSELVES))
    return (f"Choose one of {names}.", f"Let somebody join in its place: moot mcp --as {agent.name}.")
