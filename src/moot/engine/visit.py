"""A flow at a step, as its kind sees it: what its expressions come to, and how often it was here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from moot.core import json
from moot.core.json import Json
from moot.engine import resolving
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.expressions.template import Expression
from moot.engine.resolving import View
from moot.engine.scope import FAILED, LOOP, Scope
from moot.engine.state.fields import Fields
from moot.engine.step import Resolved, Spell, Step


@dataclass(frozen=True, slots=True)
class AtStep:
    """A `Visit`. `everything` are all fields of the flow, those of included workflows, too."""

    evaluator: Evaluator
    scope: Scope
    everything: Fields
    tries: int = 0

    @property
    def step(self) -> Step:
        return self.scope.trail[-1]

    @property
    def called(self) -> str:
        return self.scope.step_id if self.step.name.isdigit() else self.step.name

    @property
    def rounds(self) -> int:
        return self.scope.frames[-1].rounds

    @property
    def items(self) -> Json:
        text = self.everything.get(self.scope.key(LOOP))
        return None if text is None else json.loads(text)

    @property
    def included(self) -> Fields:
        prefix = self.scope.inner.prefix
        return {key.removeprefix(prefix): text for key, text in self.everything.items() if key.startswith(prefix)}

    @property
    def trouble(self) -> Mapping[str, Json] | None:
        text = self.everything.get(self.scope.inner.prefix + FAILED)
        return None if text is None else cast(Mapping[str, Json], json.load_object(text)["error"])

    def asked(self, task: str) -> Mapping[str, Json] | None:
        found = self.scope.definition.tasks.get(task)
        return None if found is None else {one.name: one.default for one in found.inputs}

    async def resolved(self, value: Json, own: Mapping[str, Json] | None = None) -> Json:
        return (await resolving.resolve(self.evaluator, self._view(own), value)).value

    async def resolve(self, value: Json, spell: Spell | None = None) -> Resolved:
        return await resolving.resolve(self.evaluator, self._view(), value, spell)

    async def value(self, expression: Expression, own: Mapping[str, Json] | None = None) -> Json:
        return await resolving.evaluated(self.evaluator, self._view(own), expression)

    def _view(self, own: Mapping[str, Json] | None = None) -> View:
        further = {name: json.dumps(value) for name, value in (own or {}).items()}
        names = {**self.scope.own_names(self.everything), **further}
        return View(self.scope.fields, self.scope.definition.schema, names)
