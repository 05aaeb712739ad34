"""Attendance: what was last said of each member of a team, so that it is said once: online, or offline."""

from typing import Literal

from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
Presence = Literal["online", "offline"]


@record
class _Said:
    name: str
    said: Presence


def said(tx: ReadTx, instance: InstanceName) -> dict[str, Presence]:
    """By name, of those of whom anything was said."""
    return {one.name: one.said for one in tx.all(sql.said, _Said, instance=instance)}


def say(tx: Tx, instance: InstanceName, name: str, presence: Presence) -> None:
    tx.run(sql.say, instance=instance, name=name, said=presence, now=tx.now)


def forget(tx: Tx, instance: InstanceName) -> None:
    tx.run(sql.forget, instance=instance)
