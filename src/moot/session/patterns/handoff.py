"""Handoff: what an agent reports is the request of the next; the last of them has the last word."""

from moot.core.records import replace
from moot.session.agent import Agent, Cast
from moot.session.errand import Errand
from moot.session.report import Report


def following(errand: Errand, report: Report, cast: Cast) -> Errand | None:
    """Whoever is next, and is given the body of the report and nothing else."""
    if errand.agent.handoff is None:
        return None
    return errand.instead(cast[errand.agent.handoff], report.text, "handoff")


def is_direct(agent: Agent, cast: Cast) -> bool:
    """Whether the next session is that of whoever it hands over to, and nobody's is in between: then one page holds how
    the one ended and how the other begins."""
    if agent.handoff is None:
        return False
    following = cast[agent.handoff]
    return not following.advisors and following.team is None


def failed(errand: Errand, report: Report) -> Report:
    """A chain that broke says where."""
    if report.is_put_off or (errand.trigger != "handoff" and errand.agent.handoff is None):
        return report
    place = " → ".join((*errand.callers, errand.agent.name))
    if report.error.startswith("the chain broke"):
        return report
    return replace(report, error=f"the chain broke at {errand.agent.name} ({place}): {report.error}")
