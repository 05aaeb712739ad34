"""`moot completion`: the lines with which a shell completes moot's commands, options and names."""

import os
from pathlib import PurePath

import click

from moot.cli import terminal
from moot.core.errors import InvalidInput

SHELLS = ("bash", "zsh", "fish")
_USE = {
    "bash": """# In ~/.bashrc:  eval "$(moot completion bash)\"""",
    "zsh": """# In ~/.zshrc, behind compinit:  eval "$(moot completion zsh)\"""",
    "fish": "# Write this to ~/.config/fish/completions/moot.fish",
}


class ShellUnknown(InvalidInput):
    code = "SHELL_UNKNOWN"


@click.command()
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str | None) -> None:
    """Print what makes your shell complete commands, options, workflows and agents. SHELL is bash, zsh or fish; without
    it, the one in $SHELL."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    chosen = shell or PurePath(os.environ.get("SHELL", "")).name
    made = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}.get(chosen)
    if made is None:
        raise ShellUnknown("It is not clear which shell is meant.", f"Name it: moot completion {'|'.join(SHELLS)}.")
    program = context.find_root()
    name = program.info_name or "moot"
    variable = f"_{name.upper().replace('-', '_')}_COMPLETE"
    terminal.say(_USE[chosen].replace("moot", name))
    terminal.say(made(program.command, {}, name, variable).source().strip())
