"""What an agent may do to the world by itself, must ask for, or may not do."""

from collections.abc import Mapping
from typing import Literal, cast

from moot.core.records import record

Answer = Literal["allow", "ask", "deny"]
Preset = Literal["read-only", "ask", "edit", "full"]


@record
class Permissions:
    edit: Answer = "ask"
    shell: Answer = "ask"
    network: Answer = "ask"

    @property
    def asks(self) -> bool:
        """Whether somebody may have to be asked."""
        return bool(self.asked)

    @property
    def asked(self) -> tuple[str, ...]:
        """What for."""
        answers = {"edit": self.edit, "shell": self.shell, "network": self.network}
        return tuple(name for name, answer in answers.items() if answer == "ask")

    @property
    def spelling(self) -> str:
        """The preset, or what differs from asking for everything."""
        for name, preset in PRESETS.items():
            if preset == self:
                return name
        answers = {"edit": self.edit, "shell": self.shell, "network": self.network}
        return ", ".join(f"{name}: {answer}" for name, answer in answers.items() if answer != "ask")


def said(settings: object) -> Permissions:
    """As an agent's settings have it; who said nothing has to ask."""
    return Permissions(**cast(Mapping[str, Answer], settings)) if isinstance(settings, Mapping) else Permissions()


PRESETS: Mapping[Preset, Permissions] = {
    "read-only": Permissions("deny", "deny", "deny"),
    "ask": Permissions(),
    "edit": Permissions("allow", "ask", "ask"),
    "full": Permissions("allow", "allow", "allow"),
}
