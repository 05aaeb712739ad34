"""The files of teams, brought up to date by who has changed something where no host does that."""

from collections.abc import Iterable, Mapping

from moot.app.project import Project
from moot.core.ids import InstanceName
from moot.core.tx import ReadTx
from moot.registry import hosts
from moot.store.store import Store
from moot.teams import teams

Shown = Mapping[InstanceName, object]  # what the files of teams are to show, by their names


async def looked(store: Store) -> Shown:
    """Of the teams whose files nobody keeps: a host that lives sees every change itself."""
    return await store.read(_look)


def _look(tx: ReadTx) -> Shown:
    if not any(one.has_views for one in teams.all_of(tx)) or hosts.alive(tx):
        return {}
    # Only now: most commands are about no team.
    from moot.views.team import picture  # noqa: PLC0415

    return {one.team.instance: one for one in picture.standings(tx)}


async def bring(store: Store, project: Project, before: Shown) -> None:
    """The files of those teams that are otherwise than before."""
    found = await looked(store)
    await _bring(store, project, [name for name in found if found[name] != before.get(name)])


async def bring_all(store: Store, project: Project) -> None:
    """Of all teams. Whoever kept the files may have been killed before the last look."""
    await bring(store, project, {})


async def leave(store: Store, project: Project, instance: InstanceName) -> None:
    """Who was in a team is gone, which was said there. A host that lives may have looked for the last time."""
    team = await store.read(lambda tx: teams.find(tx, instance))
    await _bring(store, project, [instance] if team is not None and team.has_views else [])


async def _bring(store: Store, project: Project, names: Iterable[InstanceName]) -> None:
    for name in names:
        from moot.views.team.keeper import TeamViews  # noqa: PLC0415

        await TeamViews(store, project.root).settle(name)
