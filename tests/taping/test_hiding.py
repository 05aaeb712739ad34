"""No secret gets through, in whatever it is wrapped."""

import base64

from moot.core.secrecy import HIDDEN
from moot.taping.hiding import Hiding

CANARY = "canary-0123456789"


def test_a_secret_is_hidden_in_texts_lists_and_names() -> None:
    hiding = Hiding({"MY_TOKEN": CANARY, "PATH": "/usr/bin", "XDG_SESSION_TOKEN": "not-a-secret"})
    given = {"a": [f"see {CANARY}!", 1, None], CANARY: {f"x{CANARY}": True}, "b": "not-a-secret /usr/bin"}
    assert hiding.hidden(given) == {
        "a": [f"see {HIDDEN}!", 1, None],
        HIDDEN: {f"x{HIDDEN}": True},
        "b": "not-a-secret /usr/bin",
    }


def test_what_it_is_told_later_is_hidden_too() -> None:
    hiding = Hiding({})
    assert hiding.hidden(CANARY) == CANARY
    hiding.add(CANARY)
    assert hiding.hidden([CANARY]) == [HIDDEN]


def test_it_goes_by_the_same_rules_as_all_that_hide() -> None:
    hiding = Hiding({"EXTRA_HEADERS": CANARY, "MY_PIN": "123456", "BASE_URL": "http://127.0.0.1:9"})
    encoded = base64.b64encode(f"me:{CANARY}".encode()).decode()
    assert "[hidden]" in str(hiding.hidden(f"Basic {encoded}"))
    assert hiding.hidden(f"{CANARY} 123456 http://127.0.0.1:9") == f"{HIDDEN} {HIDDEN} http://127.0.0.1:9"
