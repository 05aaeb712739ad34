"""Team: members work at once and hear each other's broadcasts; the supervisor hears all of them and has the last word.

A cycle: every member that is still there works until it waits or leaves, then the supervisor is told in one turn what
was said. If the supervisor broadcasts, the next cycle begins; if it reports, the team is done.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.core import clock
from moot.core.clock import Clock, SystemClock
from moot.core.json import Json
from moot.core.tool import Effect
from moot.models.model import ToolSpec
from moot.session import reports
from moot.session.agent import Agent, Cast, Team
from moot.session.hearing import Heard, Hearing
from moot.session.journal import OverBudget
from moot.session.patterns import broker as broadcasts
from moot.session.patterns.broker import Broker
from moot.session.report import Report
from moot.session.scene import Perform, Played, Scene
from moot.session.session import Part, Session
from moot.session.source import Outcome, Source
from moot.session.stage import Stage

NAME = "team_broadcast"
_MOST_LETTERS = 400_000  # of what a supervisor is told at once
