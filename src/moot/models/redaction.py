"""Takes secrets out of what providers and libraries say: keys that we know, and what looks like one."""

import re
from collections.abc import Iterable

HIDDEN = "[hidden]"
_SHORTEST = 6  # a shorter secret is no secret, and hiding it would tear words apart
_LOOKS_SECRET = re.compile(
    r"""
      \b(?:sk|rk|pk|xai|gsk|ghp|gho|ghs|glpat|hf|r8)[-_][A-Za-z0-9_\-.*]{6,}   # keys with their makers' beginnings
    | \bAIza[A-Za-z0-9_\-*]{6,}
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]{8,}                             # tokens that carry claims
    | (?<=[Bb]earer\ )[^\s"',;]{6,}
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)                                          # name and password in an address
    | (?<=[?&]key=)[^\s&"']+
    """,
    re.VERBOSE,
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    for secret in sorted((one for one in secrets if len(one) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _LOOKS_SECRET.sub(HIDDEN, text)
