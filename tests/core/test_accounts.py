"""Which key or login is used, and where: one rule for all."""

import pytest

from moot.core import accounts
from moot.core.accounts import Account, NoAccount, Service, Wish

LAB = "http://127.0.0.1:9/v1"
PROVIDER = Service("lab", ("LAB_API_KEY", "LAB_TOKEN"), address="LAB_BASE_URL")


def program(*, has_login: bool | None) -> Service:
    return Service("tool", ("TOOL_KEY",), ("SPARE_KEY",), None, "TOOL_URL", lambda _: has_login, is_program=True)


@pytest.mark.parametrize(
    ("environ", "account", "shown"),
    [
        ({"LAB_TOKEN": "t"}, Account("LAB_TOKEN"), "key LAB_TOKEN"),
        ({"LAB_TOKEN": "t", "LAB_API_KEY": "k"}, Account("LAB_API_KEY"), "key LAB_API_KEY"),
        ({"LAB_API_KEY": "k", "LAB_BASE_URL": LAB}, Account("LAB_API_KEY", LAB), f"key LAB_API_KEY at {LAB}"),
        ({"LAB_BASE_URL": LAB}, Account(None, LAB), f"no key at {LAB}"),
    ],
)
def test_a_provider_has_the_first_key_that_is_set(environ: dict[str, str], account: Account, shown: str) -> None:
    found = accounts.resolve(PROVIDER, Wish(env=("OTHER_KEY",)), environ)
    assert (found, str(found)) == (account, shown)


@pytest.mark.parametrize("environ", [{}, {"LAB_API_KEY": " "}, {"LAB_BASE_URL": ""}])
def test_a_provider_without_its_key_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(NoAccount) as caught:
        accounts.resolve(PROVIDER, Wish(), environ)
    assert str(caught.value) == "there is no key for lab Set LAB_API_KEY or LAB_TOKEN."


@pytest.mark.parametrize(
    ("has_login", "environ", "shown"),
    [
        (True, {"TOOL_KEY": "k", "SPARE_KEY": "s"}, "key TOOL_KEY"),
        (True, {"SPARE_KEY": "s"}, "your login"),
        (False, {"SPARE_KEY": "s"}, "key SPARE_KEY"),
        (False, {}, "no login found"),
        (None, {}, "your login"),
        (True, {"TOOL_URL": "https://me:hunter22@proxy.example/x?key=k"}, "your login at https://proxy.example/x"),
    ],
)
def test_a_program_has_a_key_or_a_login(has_login: bool | None, environ: dict[str, str], shown: str) -> None:
    assert str(accounts.resolve(program(has_login=has_login), Wish(), environ)) == shown


def test_an_isolated_program_has_no_login_and_needs_a_key() -> None:
    tool = program(has_login=True)
    assert accounts.resolve(tool, Wish(is_isolated=True), {"SPARE_KEY": "s"}) == Account("SPARE_KEY")
    with pytest.raises(NoAccount, match="isolated from your login"):
        accounts.resolve(tool, Wish(is_isolated=True), {"TOOL_URL": LAB})


@pytest.mark.parametrize("is_isolated", [False, True])
def test_an_address_of_the_agents_own_gets_the_key_that_it_names_or_none(is_isolated: bool) -> None:
    tool, environ = program(has_login=True), {"TOOL_KEY": "k", "MY_KEY": "m", "DATABASE": "d"}
    named = accounts.resolve(tool, Wish(LAB, ("DATABASE", "MY_KEY"), is_isolated), environ)
    assert named == Account("MY_KEY", LAB)
    assert accounts.resolve(tool, Wish(LAB, ("DATABASE",), is_isolated), environ) == Account(None, LAB)
    with pytest.raises(NoAccount, match="the environment has no NOPE_KEY"):
        accounts.resolve(tool, Wish(LAB, ("NOPE_KEY",), is_isolated), environ)


def test_what_is_asked_at_one_address_only_takes_no_other() -> None:
    fixed = Service("tool", ("TOOL_KEY",), is_program=True, is_fixed=True)
    with pytest.raises(NoAccount, match="tool cannot be asked at another address"):
        accounts.resolve(fixed, Wish(LAB), {"TOOL_KEY": "k"})


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:pass@h.example:8443/v1?key=x#y", "https://h.example:8443/v1"),
        ("https://h.example/sk-abcdefgh123/v1;key=hunter22", "https://h.example/[hidden]/v1"),
        ("https://[::1/v1", "an address that cannot be read"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_shown_without_secrets_and_a_wrong_one_is_no_trouble(address: str, shown: str) -> None:
    assert accounts.shown(address) == shown
