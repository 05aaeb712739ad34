"""What is said of one agent in several places, made into one: a flag goes before the workflow's own words, those
before the agent file, that before `defaults`, those before the configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from moot.core import schemas, yaml
from moot.core.permissions import PRESETS, Permissions, Preset
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow import keys
from moot.workflow.shape import BudgetShape, DefaultsShape, PermissionsShape, RetryShape
from moot.workflow.workflow import Budget, Retry


@record
class Layer:
    """One place where something is said of an agent."""

    document: Document
    path: yaml.Path
    folder: Path  # paths in it are meant from here
    said: DefaultsShape

    def place(self, field: str) -> yaml.Path:
        """Where the field stands, however it is spelled."""
        name = "from" if field == "source" else field
        beside = schemas.value_at(self.document.data, self.path)
        is_camel = isinstance(beside, Mapping) and name not in beside and keys.camel(name) in beside
        return (*self.path, keys.camel(name) if is_camel else name)


@record
class Choice:
    """A value, and the layer that has it."""

    value: Any
    layer: Layer
    field: str

    @property
    def place(self) -> yaml.Path:
        return self.layer.place(self.field)


def choose(layers: Sequence[Layer], field: str) -> Choice | None:
    """The first that says anything."""
    for layer in layers:
        value = getattr(layer.said, field, None)
        if value is not None:
            return Choice(value, layer, field)
    return None


def budget(said: BudgetShape | None, otherwise: Budget) -> Budget:
    """What is said, and for the rest what would be otherwise; `false` is said too."""
    if said is None:
        return otherwise
    given = {name: getattr(said, name) for name in said.model_fields_set}
    kept = {name: getattr(otherwise, name) for name in BudgetShape.model_fields}
    return Budget(**{**kept, **given})


def retry(said: RetryShape | None) -> Retry:
    return Retry() if said is None else Retry(said.attempts, said.backoff, said.multiplier)


def permissions(said: PermissionsShape | str | None) -> Permissions:
    if said is None:
        return Permissions()
    if isinstance(said, str):
        return PRESETS[cast(Preset, said)]
    return Permissions(said.edit, said.shell, said.network)
