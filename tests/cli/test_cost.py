"""The table of what was spent: numbers in line, estimates and unknown outcomes marked, JSON for programs."""

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.ledger.usage import Spent
from tests.api import books
from tests.api.books import Asked
from tests.cli.terminal import Terminal


async def spend(connection: Connection) -> None:
    def change(tx: Tx) -> None:
        begun = books.begin(tx, books.join(tx, "lead", model="opus"))
        more = {"cache_read_tokens": 1_000, "reasoning_tokens": 7}
        books.ask(
            tx,
            begun,
            Asked("t1/m", "", "lead", cost=1_250_000, tokens=(12_000, 340), more=more),
            Asked("t1/c1/s/t1/m", "haiku", "helper", cost=1_300, tokens=(90, 5)),
            Asked("t2/m", "", "lead", "unknown", cost=40_000),
        )
        books.begin(tx, books.join(tx, "bob", "pr", backend="codex")).spend(tx, Spent(10, 2, 1, 0.1))

    await connection.store.write(change, caller=SYSTEM)


def test_where_nothing_was_spent_nothing_is_made(terminal: Terminal) -> None:
    assert terminal.ok("cost").out == "nothing was spent yet; begin with: moot run FILE\n"
    assert terminal.ok("cost", "--json").json["lines"] == []
    assert not (terminal.folder / ".workflow").exists()


def test_by_agent_those_who_helped_stand_below_whoever_asked(either: Terminal) -> None:
    either.act(spend)
    assert either.ok("cost").out == (
        "AGENT     ATTEMPTS   CALLS      IN  OUT      COST\n"
        "lead             1  3 (1?)  12,090  345  ~$1.2913\n"
        "  lead              2 (1?)  12,000  340    ~$1.29\n"
        "  helper                 1      90    5   $0.0013\n"
        "bob@pr           1       1      10    2     $0.10\n"
        "total            2  4 (1?)  12,100  347  ~$1.3913\n"
        "! 1 call of unknown outcome may have been billed; ~$0.04 of the total is for that.\n"
    )


def test_by_model_nobody_has_attempts(terminal: Terminal) -> None:
    terminal.act(spend)
    assert terminal.ok("cost", "--by", "model").out.splitlines()[:4] == [
        "MODEL   CALLS      IN  OUT      COST",
        "opus   2 (1?)  12,000  340    ~$1.29",
        "codex       1      10    2     $0.10",
        "haiku       1      90    5   $0.0013",
    ]


def test_verbose_tells_of_cache_and_reasoning(terminal: Terminal) -> None:
    terminal.act(spend)
    heading, lead, *_ = terminal.ok("cost", "-v", "--instance", "@default").out.splitlines()
    assert "CACHE READ  CACHE WRITE  REASONING" in heading
    assert lead.split()[-4:] == ["1,000", "0", "7", "~$1.2913"]


def test_json_is_exact(terminal: Terminal) -> None:
    terminal.act(spend)
    total = terminal.ok("cost", "--by", "run", "--json").json["total"]
    assert (total["cost"], total["unknown_cost"], total["unknown_calls"]) == (1.3913, 0.04, 1)
    assert (total["attempts"], total["is_estimated"]) == (2, True)


def test_an_instance_that_is_not_there_is_said(terminal: Terminal) -> None:
    terminal.act(spend)
    ended = terminal.run("cost", "--instance", "nowhere")
    assert (ended.code, "nowhere" in ended.err) == (1, True)
