"""Handoff: what an agent reports is the request of the next; the last of them has the last word."""

from dataclasses import replace

from moot.session.agent import Cast
from moot.session.report import Report
from moot.session.scene import Scene


def following(scene: Scene, report: Report, cast: Cast) -> Scene | None:
    """Whoever is next, and is given the body of the report and nothing else."""
    if scene.agent.handoff is None:
        return None
    return scene.instead(cast[scene.agent.handoff], report.text, "h", "handoff")


def failed(scene: Scene, report: Report) -> Report:
    """A chain that broke says where."""
    if scene.trigger != "handoff" and scene.agent.handoff is None:
        return report
    place = " → ".join((*scene.callers, scene.agent.name))
    if report.error.startswith("the chain broke"):
        return report
    return replace(report, error=f"the chain broke at {scene.agent.name} ({place}): {report.error}")
