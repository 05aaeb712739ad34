"""Said is said; else a key, else a program; and never anything instead."""

from dataclasses import replace
from pathlib import Path

import pytest

from moot.app import choosing, trust
from moot.app.choosing import Choice, Machine, Obstacle
from moot.core import json
from moot.core.permissions import PRESETS, Preset
from moot.core.prices import Rates
from moot.core.servers import Server
from moot.core.teams import Team
from moot.runner import casts
from moot.workflow import catalog, stored
from moot.workflow.catalog import ModelsShape
from moot.workflow.patterns import Patterns
from moot.workflow.workflow import AgentDefinition, Backend, Fallback

DOUBT = "no login of claude was found; log in with: claude /login"
EVERYTHING = frozenset(("api", "claude", "codex", "command", "scripted"))
LEAD = AgentDefinition("lead", model="anthropic/sonnet")


def machine(folder: Path, *programs: str, has_models: bool = True, **environ: str) -> Machine:
    """With these programs on its PATH, and nothing else."""
    for name in programs:
        file = folder / name
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    return Machine({"PATH": str(folder), **environ}, EVERYTHING, has_models)


def home(folder: Path, login: str) -> str:
    """With a program's login in it."""
    file = folder / "home" / login
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    return str(folder / "home")


def chosen(agent: AgentDefinition, here: Machine, said_by: str = "") -> Choice:
    found = choosing.choose(agent, catalog.shipped(), here, said_by)
    assert isinstance(found, Choice), found
    return found


def obstacle(agent: AgentDefinition, here: Machine) -> Obstacle:
    found = choosing.choose(agent, catalog.shipped(), here)
    assert isinstance(found, Obstacle), found
    return found


def test_what_is_said_counts_whatever_else_there_is(tmp_path: Path) -> None:
    here = machine(tmp_path, "claude", "codex", ANTHROPIC_API_KEY="k", HOME=home(tmp_path, ".codex/auth.json"))
    agent = AgentDefinition("a", backend="codex")
    assert chosen(agent, here, "--backend") == Choice("codex", None, "--backend", "your login")
    assert chosen(AgentDefinition("a", backend="human"), here, "x").account == ""


def test_the_key_of_the_provider_goes_before_its_program(tmp_path: Path) -> None:
    here = machine(tmp_path, "claude", ANTHROPIC_API_KEY="k")
    assert chosen(LEAD, here) == Choice(
        "api",
        "anthropic/sonnet",
        "ANTHROPIC_API_KEY is set",
        "key ANTHROPIC_API_KEY",
        is_said=False,
        key="ANTHROPIC_API_KEY",
    )


@pytest.mark.parametrize("key", ["", "  "])
def test_without_a_key_the_program_of_the_provider_is_taken(tmp_path: Path, key: str) -> None:
    here = machine(tmp_path, "claude", ANTHROPIC_API_KEY=key, OPENAI_API_KEY="another's", HOME=tmp_path.as_posix())
    assert chosen(LEAD, here) == Choice(
        "claude", "anthropic/sonnet", "claude is installed", "no login found", is_said=False, doubt=DOUBT
    )


def test_without_both_all_remedies_are_told_and_no_other_is_taken(tmp_path: Path) -> None:
    found = obstacle(LEAD, machine(tmp_path, "codex", OPENAI_API_KEY="k"))
    assert found.fact == "nothing here can run anthropic/sonnet"
    told = " ".join(found.remedies)
    for remedy in ("Set ANTHROPIC_API_KEY.", "npm install -g @anthropic-ai/claude-code", "--backend", "moot mcp --as"):
        assert remedy in told


def test_a_missing_extra_is_told_with_the_command_and_no_other_backend_is_taken(tmp_path: Path) -> None:
    found = obstacle(LEAD, machine(tmp_path, "claude", has_models=False, ANTHROPIC_API_KEY="k"))
    assert "pip install 'moot[llm]'" in found.remedies[0]
    assert "--backend claude" in found.remedies[1]


def test_a_program_that_is_not_there_is_told_with_its_installation(tmp_path: Path) -> None:
    found = obstacle(AgentDefinition("a", backend="claude"), machine(tmp_path))
    assert found == Obstacle(
        "the program claude was not found",
        ("Install it: npm install -g @anthropic-ai/claude-code", "Choose another with --backend."),
    )
    own = AgentDefinition("a", backend="claude", command=("./absent",))
    assert obstacle(own, machine(tmp_path, "claude")).fact == "the program ./absent was not found"


def test_isolated_agents_need_a_key(tmp_path: Path) -> None:
    alone = AgentDefinition("a", backend="claude", is_isolated=True)
    assert obstacle(alone, machine(tmp_path, "claude")).remedies[0].startswith("Set ANTHROPIC_API_KEY or")
    assert chosen(alone, machine(tmp_path, ANTHROPIC_API_KEY="k")).account == "key ANTHROPIC_API_KEY"


LAB = "http://127.0.0.1:9/v1"


def test_a_program_at_an_address_of_its_own_is_shown_with_the_key_that_it_sends(tmp_path: Path) -> None:
    here = machine(tmp_path, "claude", ANTHROPIC_API_KEY="k", MY_KEY="m")
    agent = AgentDefinition("a", backend="claude", base_url=LAB, env=("MY_KEY",))
    assert chosen(agent, here).account == f"key MY_KEY at {LAB}"
    assert chosen(replace(agent, is_isolated=True), here).account == f"key MY_KEY at {LAB}"
    assert chosen(replace(agent, env=()), here).account == f"no key at {LAB}"
    assert obstacle(replace(agent, env=("NOPE_KEY",)), here).remedies == ("Set NOPE_KEY.",)


def test_a_variable_that_a_program_asks_for_must_be_there(tmp_path: Path) -> None:
    agents = (AgentDefinition("a", "claude"), AgentDefinition("a", "command", command=("cat",)))
    for agent in (replace(one, env=("DATABASE",)) for one in agents):
        here = machine(tmp_path, "claude", "cat")
        assert obstacle(agent, here).fact == "the environment has no DATABASE, which it asks for"
        assert chosen(agent, machine(tmp_path, DATABASE="d")).backend == agent.backend


def test_codex_uses_the_key_of_openai_only_without_a_login(tmp_path: Path) -> None:
    agent = AgentDefinition("a", backend="codex")
    assert chosen(agent, machine(tmp_path, "codex", OPENAI_API_KEY="k")).account == "key OPENAI_API_KEY"
    there = home(tmp_path, ".codex/auth.json")
    assert chosen(agent, machine(tmp_path, OPENAI_API_KEY="k", HOME=there)).account == "your login"
    assert chosen(agent, machine(tmp_path, CODEX_API_KEY="k", HOME=there)).account == "key CODEX_API_KEY"


@pytest.mark.parametrize("backend", ["api", "claude"])
def test_an_address_of_the_environment_is_shown(tmp_path: Path, backend: Backend) -> None:
    here = machine(tmp_path, "claude", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL="https://me:secret@proxy.example/a")
    found = chosen(replace(LEAD, backend=backend), here)
    assert found.account == "key ANTHROPIC_API_KEY at https://proxy.example/a"


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (("NOPE_KEY",), "the environment has no NOPE_KEY"),
        (("KEYBOARD",), "none of the variables in its `env` is a key"),
    ],
)
def test_a_model_whose_key_is_named_and_not_there_is_refused(tmp_path: Path, env: tuple[str, ...], told: str) -> None:
    agent = AgentDefinition("a", model="openai/x", base_url=LAB, env=env)
    assert obstacle(agent, machine(tmp_path, OPENAI_API_KEY="k", KEYBOARD="q")).fact.startswith(told)


def test_the_key_that_is_shown_is_the_one_that_is_kept(tmp_path: Path) -> None:
    agent = AgentDefinition("a", model="openai/x", base_url=LAB, env=("OTHER_TOKEN", "LAB_API_KEY"))
    choice = chosen(agent, machine(tmp_path, OTHER_TOKEN="o", LAB_API_KEY="l"))
    assert choice.account == f"key LAB_API_KEY at {LAB}"
    assert choosing.settled(agent, choice, catalog.shipped()).env == ("LAB_API_KEY",)
    own = ModelsShape.model_validate({"providers": {"anthropic": {"api": "anthropic", "keys": ["WORK_KEY"]}}})
    known = catalog.of_configs([own])
    found = choosing.choose(LEAD, known, machine(tmp_path, WORK_KEY="w", ANTHROPIC_API_KEY="k"))
    assert isinstance(found, Choice)
    assert choosing.settled(LEAD, found, known).env == ("WORK_KEY",)


def test_cursor_is_asked_at_no_other_address(tmp_path: Path) -> None:
    here = replace(machine(tmp_path, "cursor-agent", CURSOR_API_KEY="k"), backends=frozenset(("cursor",)))
    found = obstacle(AgentDefinition("a", backend="cursor", base_url=LAB), here)
    assert found == Obstacle("cursor cannot be asked at another address", ("Leave out `base_url`.",))


def test_opencode_uses_the_key_of_the_models_provider(tmp_path: Path) -> None:
    here = machine(tmp_path, "opencode", ANTHROPIC_API_KEY="a", OPENAI_API_KEY="o")
    here = replace(here, backends=frozenset(("opencode",)))
    assert chosen(AgentDefinition("a", "opencode", model="openai/x"), here).account == "key OPENAI_API_KEY"
    assert chosen(AgentDefinition("a", "opencode"), here).account == "key ANTHROPIC_API_KEY"


def test_a_backend_of_another_version_is_refused(tmp_path: Path) -> None:
    found = obstacle(AgentDefinition("a", backend="cursor"), machine(tmp_path, "cursor-agent"))
    assert found.fact == "the backend cursor cannot be run by this version of moot"
    assert "external" in found.remedies[0]


def test_a_command_must_be_said(tmp_path: Path) -> None:
    assert obstacle(AgentDefinition("a", backend="command"), machine(tmp_path)).fact == "it has no command"
    agent = AgentDefinition("a", backend="command", command=("cat",))
    assert chosen(agent, machine(tmp_path, "cat")).backend == "command"


@pytest.mark.parametrize(
    "command", [("nope",), ("./nope.sh", "x"), ("/bin/sh", "-c", "./nope.sh"), ("/bin/sh", "-c", " bin/nope -x | cat")]
)
def test_a_command_that_is_not_there_is_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    here = replace(machine(tmp_path), folder=tmp_path)
    agent = AgentDefinition("a", backend="command", command=command)
    found = obstacle(agent, here)
    assert found.remedies == ("Mend the agent's command.",)
    assert "nope" in found.fact


def test_a_command_that_setup_may_make_is_waited_for(tmp_path: Path) -> None:
    here = replace(machine(tmp_path), folder=tmp_path, may_change=True)
    agent = AgentDefinition("a", backend="command", command=("./nope.sh",))
    assert chosen(agent, here).backend == "command"
    assert obstacle(replace(agent, command=("nope",)), here).fact == "the program nope was not found"


@pytest.mark.parametrize(
    "line", ["cat", "true && ./nope.sh", "X=1 ./x", "$HOME/agent", "~/agent", "'./a b'", "echo a/b"]
)
def test_a_line_for_the_shell_is_only_judged_where_it_is_plain(tmp_path: Path, line: str) -> None:
    agent = AgentDefinition("a", backend="command", command=("/bin/sh", "-c", line))
    assert chosen(agent, machine(tmp_path)).backend == "command"


def test_a_command_is_meant_from_where_agents_work(tmp_path: Path) -> None:
    machine(tmp_path, "agent.sh")
    here = Machine({"PATH": "/nonexistent"}, EVERYTHING, folder=tmp_path)
    assert chosen(AgentDefinition("a", backend="command", command=("./agent.sh",)), here).backend == "command"
    inside = AgentDefinition("a", backend="command", command=("moot", "send", "hi"))
    assert chosen(inside, here).backend == "command"  # agents find it wherever it is


def test_an_api_agent_is_kept_with_the_id_that_the_api_knows(tmp_path: Path) -> None:
    here = machine(tmp_path, ANTHROPIC_API_KEY="k")
    kept = choosing.settled(LEAD, chosen(LEAD, here), catalog.shipped())
    assert (kept.backend, kept.model, kept.base_url) == ("api", "anthropic/claude-sonnet-5-5", None)
    by_program = choosing.settled(LEAD, chosen(LEAD, machine(tmp_path, "claude")), catalog.shipped())
    assert (by_program.backend, by_program.model) == ("claude", "anthropic/sonnet")


def test_a_provider_that_speaks_the_language_of_another_gets_its_own_address_and_key(tmp_path: Path) -> None:
    agent = AgentDefinition("a", model="openrouter/qwen/qwen3")
    here = machine(tmp_path, OPENROUTER_API_KEY="k", OPENAI_API_KEY="not this")
    choice = chosen(agent, here)
    assert choice.account == "key OPENROUTER_API_KEY at https://openrouter.ai/api/v1"
    kept = choosing.settled(agent, choice, catalog.shipped())
    assert (kept.model, kept.base_url, kept.env) == (
        "openai/qwen/qwen3", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",),
    )  # fmt: skip
    assert "Set OPENROUTER_API_KEY." in obstacle(agent, machine(tmp_path, OPENAI_API_KEY="k")).remedies


def test_a_local_provider_needs_no_key(tmp_path: Path) -> None:
    agent = AgentDefinition("a", model="ollama/qwen3")
    choice = chosen(agent, machine(tmp_path))
    assert (choice.backend, choice.why, choice.account) == (
        "api", "ollama needs no key", "no key at http://127.0.0.1:11434/v1",
    )  # fmt: skip
    assert choosing.settled(agent, choice, catalog.shipped()).model == "openai/qwen3"


def test_an_address_of_its_own_gets_no_key_but_the_one_that_is_named(tmp_path: Path) -> None:
    agent = AgentDefinition("a", model="openai/x", base_url="http://127.0.0.1:9/v1")
    here = machine(tmp_path, OPENAI_API_KEY="k", LAB_KEY="l")
    assert chosen(agent, here).account == "no key at http://127.0.0.1:9/v1"
    named = AgentDefinition("a", model="openai/x", base_url="http://127.0.0.1:9/v1", env=("LAB_KEY",))
    assert chosen(named, here).account == "key LAB_KEY at http://127.0.0.1:9/v1"


def test_a_provider_of_the_users_own_is_asked_at_its_address(tmp_path: Path) -> None:
    lab = {"api": "anthropic", "base_url": "http://127.0.0.1:9", "keys": ["LAB_KEY"]}
    known = catalog.of_configs([ModelsShape.model_validate({"providers": {"lab": lab}})])
    agent = AgentDefinition("a", model="lab/m")
    found = choosing.choose(agent, known, machine(tmp_path, LAB_KEY="l"))
    assert isinstance(found, Choice)
    kept = choosing.settled(agent, found, known)
    assert (kept.model, kept.base_url, kept.env) == ("anthropic/m", "http://127.0.0.1:9", ("LAB_KEY",))


def test_a_worktree_needs_git_and_a_repository(tmp_path: Path) -> None:
    agent = AgentDefinition("a", backend="scripted", workspace="worktree")
    here = replace(machine(tmp_path), folder=tmp_path / "project")
    assert obstacle(agent, here).fact == "the program git was not found, and it wants a worktree"
    able = replace(machine(tmp_path, "git"), folder=tmp_path / "project")
    assert obstacle(agent, able).fact == "there is no git repository in which it could have a worktree"
    (tmp_path / "project" / ".git").mkdir(parents=True)
    assert chosen(agent, able).backend == "scripted"
    outsider = AgentDefinition("a", backend="external", workspace="worktree")
    assert obstacle(outsider, able).fact == "who comes by itself has no worktree from the beginning"


def test_the_values_of_keys_are_shown_nowhere(tmp_path: Path) -> None:
    here = machine(tmp_path, ANTHROPIC_API_KEY="sk-canary")
    assert "sk-canary" not in f"{here!r} {chosen(LEAD, here)!r}"


@pytest.mark.parametrize(
    ("backend", "permissions", "told"),
    [
        ("claude", "ask", None),
        ("api", "ask", None),
        (
            "codex",
            "ask",
            "codex cannot ask for permission without a terminal: what it would ask for (edit, shell, network)",
        ),
        (
            "gemini",
            "edit",
            "gemini cannot ask for permission without a terminal: what it would ask for (shell, network)",
        ),
        ("opencode", "full", None),
        ("cursor", "edit", "cursor knows only all or nothing: with these permissions it changes no file"),
        ("cursor", "read-only", None),
    ],
)
def test_what_is_denied_to_who_cannot_ask_is_told(backend: Backend, permissions: Preset, told: str | None) -> None:
    found = Choice(backend, None, "").warnings(PRESETS[permissions])
    assert [one.startswith(told or "?") for one in found] == ([True] if told else [])


def test_only_who_can_ask_does_and_only_if_it_may_have_to() -> None:
    asks = AgentDefinition("a", "claude")
    edits = AgentDefinition("b", "claude", permissions=PRESETS["edit"])
    full = AgentDefinition("c", "claude", permissions=PRESETS["full"])
    plays = AgentDefinition("d", "scripted")
    cannot = AgentDefinition("e", "codex")
    everybody = (asks, edits, full, plays, cannot)
    choices = {one.name: Choice(one.backend or "api", None, "") for one in everybody}
    assert trust.asking(everybody, choices) == (asks, edits)
    told = trust.refusal((asks,))
    assert (told.code, told.exit_code) == ("NOBODY_TO_ASK", 2)
    assert "a: permissions are ask, so it may have to ask for edit, shell, network" in told.fact
    assert "b: permissions are edit, so it may have to ask for shell, network" in trust.refusal((edits,)).fact
    works = AgentDefinition("g", "api", permissions=PRESETS["edit"], tools=("edit", "shell"))
    assert trust.refusal((works,)).fact.endswith("g: permissions are edit, so it may have to ask for shell")
    assert told.remedy.splitlines()[:2] == [
        "Decide beforehand with --permissions read-only or --permissions full.",
        "Run it on a terminal.",
    ]
    assert "moot start" in told.remedy
    assert "moot start" not in trust.refusal((asks,), is_question=True).remedy  # which takes no agent file
    by_server = AgentDefinition("f", "api", permissions=PRESETS["full"], servers=(Server("git", ask=("push",)),))
    told = trust.refusal((by_server,))  # which no permissions change
    assert "tools of the MCP server git" in told.fact
    assert told.remedy.splitlines()[0] == "Write their tools under `allow` or `deny`."
    assert "--permissions" in trust.refusal((asks, by_server)).remedy


def test_each_of_several_models_has_an_endpoint_of_its_own(tmp_path: Path) -> None:
    agent = replace(LEAD, backend="api", fallbacks=(Fallback("openai/gpt-5"),))
    here = machine(tmp_path, ANTHROPIC_API_KEY="k", OPENAI_API_KEY="o")
    choice = chosen(agent, here)
    assert (choice.model, [one.model for one in choice.fallbacks], choice.doubt) == (LEAD.model, ["openai/gpt-5"], "")
    kept = choosing.settled(agent, choice, catalog.shipped())
    assert (kept.env, kept.fallbacks) == (
        ("ANTHROPIC_API_KEY",),
        (Fallback("openai/gpt-5", None, ("OPENAI_API_KEY",)),),
    )


def test_prices_of_the_configuration_go_with_each_model_to_whoever_asks_it(tmp_path: Path) -> None:
    said = {"anthropic/sonnet": {"input": 2, "output": 8, "cached": 0.5}, "openai/gpt-5": {"input": 0.0, "output": 0.0}}
    known = catalog.of_configs([ModelsShape.model_validate({"prices": said})])
    agent = replace(LEAD, backend="api", fallbacks=(Fallback("openai/gpt-5"), Fallback("openai/gpt-6")))
    here = machine(tmp_path, ANTHROPIC_API_KEY="k", OPENAI_API_KEY="o")
    kept = choosing.settled(agent, chosen(agent, here), known)
    assert kept.rates == Rates(2.0, 8.0, 0.5)
    assert [one.rates for one in kept.fallbacks] == [Rates(0.0, 0.0, 0.0), None]
    settings = stored.settings(kept)
    (again,) = stored.definitions(kept.name, "api", settings)
    assert again.rates == kept.rates
    assert '"rates":[0.0,0.0,0.0]' in json.dumps(casts.agent(again).settings)


def test_models_that_cannot_be_asked_here_are_left_out_with_a_warning(tmp_path: Path) -> None:
    agent = replace(LEAD, backend="api", fallbacks=(Fallback("openai/gpt-5"),))
    choice = chosen(agent, machine(tmp_path, OPENAI_API_KEY="o"))
    assert choice.warnings(PRESETS["ask"]) == ("anthropic/sonnet is left out: there is no key for anthropic",)
    kept = choosing.settled(agent, choice, catalog.shipped())
    assert (kept.model, kept.env, kept.fallbacks) == ("openai/gpt-5", ("OPENAI_API_KEY",), ())
    assert obstacle(agent, machine(tmp_path)).fact == "there is no key for anthropic"


def test_a_team_needs_no_model_of_its_own(tmp_path: Path) -> None:
    panel = AgentDefinition("panel", "api", patterns=Patterns(team=Team(("a",), "b")))
    choice = chosen(panel, machine(tmp_path, has_models=False), "its team")
    assert choice == Choice("api", None, "its team")
    assert choosing.settled(panel, choice, catalog.shipped()) == panel
    assert obstacle(AgentDefinition("a", "api"), machine(tmp_path)).fact == "the backend api needs a model"


def test_who_says_nothing_in_a_team_is_run_by_the_first_program_with_an_account(tmp_path: Path) -> None:
    nobody = str(tmp_path / "nobody")
    assert choosing.first(machine(tmp_path, HOME=nobody)) is None
    key = machine(tmp_path, HOME=nobody, ANTHROPIC_API_KEY="k")
    assert choosing.first(key) == {"model": "sonnet"}
    assert choosing.first(replace(key, has_models=False)) is None
    both = machine(tmp_path, "claude", "codex", HOME=home(tmp_path, ".codex/auth.json"))
    assert choosing.first(both) == {"backend": "codex"}
    assert choosing.first(machine(tmp_path, "claude", "codex", HOME=nobody)) == {"backend": "claude"}


def test_where_nothing_runs_agents_everything_is_told_that_would_help() -> None:
    told = choosing.remedy([choosing.nothing()])
    assert "Install claude: npm install -g @anthropic-ai/claude-code" in told
    assert "Set ANTHROPIC_API_KEY." in told
