"""The commands by name. Their modules are imported when they are called, so that help and errors come at once."""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

from moot.cli.options import store_option
from moot.core.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Section, then name, then the module (which has a `command`) and its line of help.
SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Begin": {
        "init": ("moot.cli.init", "Set up this project and connect your agents"),
        "demo": ("moot.cli.demo", "Watch scripted agents work together"),
        "examples": ("moot.cli.examples", "List, show, copy and run examples"),
        "doctor": ("moot.cli.doctor", "Say what is wrong and how to fix it"),
        "check": ("moot.cli.check", "Validate a workflow; show who runs where"),
        "completion": ("moot.cli.completion", "Let your shell complete commands and names"),
    },
    "Run": {
        "run": ("moot.cli.run", "Run a workflow until it is done"),
        "team": ("moot.cli.team", "A ready-made team: setup, up, status, attach, down"),
        "start": ("moot.cli.start", "Start a workflow and keep it running"),
        "ask": ("moot.cli.ask", "One answer from one agent file"),
        "new": ("moot.cli.new", "Create an agent that stands alone"),
        "resume": ("moot.cli.resume", "Go on with a run that was interrupted or paused"),
        "retry": ("moot.cli.retry", "Try mail again that was given up"),
        "pause": ("moot.cli.pause", "Wake nobody until moot resume"),
        "rm": ("moot.cli.rm", "Delete an instance for good"),
        "stop": ("moot.cli.stop", "Stop a run or an agent at a safe point"),
    },
    "Take part": {
        "send": ("moot.cli.send", "Say something to agents"),
        "inbox": ("moot.cli.inbox", "What waits for you, or for an agent"),
        "approve": ("moot.cli.approve", "Approve a request"),
        "deny": ("moot.cli.deny", "Deny a request"),
        "request": ("moot.cli.request", "Ask one agent or person"),
        "vote": ("moot.cli.vote", "Vote, or show how a vote stands"),
        "doc": ("moot.cli.doc", "List, show and edit documents, and see who changed them"),
    },
    "See": {
        "list": ("moot.cli.list", "Agents and what they do (ls)"),
        "status": ("moot.cli.status", "Who does what, and why nothing moves"),
        "watch": ("moot.cli.watch", "See it as it happens, and answer"),
        "ui": ("moot.cli.ui", "The live page; answer in it"),
        "log": ("moot.cli.log", "Conversation and events"),
        "search": ("moot.cli.search", "Find messages and documents by their words"),
        "trace": ("moot.cli.trace", "Path, calls and time of a run, a message, an attempt"),
        "cost": ("moot.cli.cost", "What was spent, by agent, model or run"),
    },
    "Work": {
        "plan": ("moot.cli.plan", "Plans of tasks: apply, show, draw, save"),
        "task": ("moot.cli.task", "Tasks: list, claim, release, and what came of them"),
        "flow": ("moot.cli.flow", "Steps: where they are, their state, what they did, one more"),
        "workspace": ("moot.cli.workspace", "Worktrees of agents: list, diff, merge, clean up"),
    },
    "Serve": {
        "serve": ("moot.cli.serve", "Run agents for this store"),
        "mcp": ("moot.cli.mcp", "Connect an agent over MCP"),
        "export": ("moot.cli.export", "Rebuild the views; write JSON lines"),
    },
}
# Commands that help does not list: other spellings of what it does, and what programs call.
HIDDEN = {
    "context": "moot.cli.context",
    "help": "moot.cli.help",
    "hook": "moot.cli.hook",
    "teamcreate": "moot.cli.team:create",
    "teamdelete": "moot.cli.team:delete",
}
ALIASES = {"ls": "list", "peek": "log"}
MODULES = {name: module for commands in SECTIONS.values() for name, (module, _) in commands.items()}


class Program(click.Group):
    """A group that knows its commands by the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = {**MODULES, **HIDDEN}.get(ALIASES.get(cmd_name, cmd_name))
        module, _, name = (found or "").partition(":")
        return None if found is None else getattr(import_module(module), name or "command")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """From the table: click would import all commands to read their first lines."""
        from click.shell_completion import CompletionItem

        named = [(name, line) for commands in SECTIONS.values() for name, (_, line) in commands.items()]
        found = [CompletionItem(name, help=line) for name, line in named if name.startswith(incomplete)]
        return found or click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=[*MODULES, *ALIASES], ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


@click.command(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 4 waiting for a person, "
    "130 interrupted.",
)
@click.version_option(VERSION, message="%(prog)s %(version)s")
@store_option
@click.pass_context
def program(ctx: click.Context, store: str | None) -> None:
    """Where coding agents work together."""
    if store is not None:
        # Every command has its own --store; this one is what theirs defaults to.
        ctx.default_map = {name: {"store": store} for name in (*MODULES, *ALIASES)}
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def call(name: str, arguments: list[str]) -> int:
    """The exit code; raises what went wrong. Not by `program.main`, which has its own ideas of exit codes."""
    if f"_{name.upper().replace('-', '_')}_COMPLETE" in os.environ:
        program.main(arguments, prog_name=name)
    return invoke(program, name, arguments)


def invoke(command: click.Command, name: str, arguments: list[str]) -> int:
    try:
        with command.make_context(name, arguments) as context:
            result: object = command.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return result if isinstance(result, int) else 0
