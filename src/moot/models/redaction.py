"""Takes secrets out of what providers and libraries say: keys that we know, and what looks like one."""

from moot.core.secrecy import HIDDEN as HIDDEN
from moot.core.secrecy import redact as redact
