"""For tests, moot's own and its users': fakes that behave like the real thing and can be steered, and places that are
gone afterwards."""

from moot.testing.clock import ManualClock as ManualClock
from moot.testing.places import meeting as meeting
from moot.testing.places import project as project
