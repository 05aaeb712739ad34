"""Voting from the terminal: what can be voted on, how it stands, and one's own vote."""

from datetime import timedelta

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.proposals.proposals import NewProposal, Proposal
from moot.proposals.tally import TieBreaker
from moot.registry import agents, instances, tokens
from moot.registry.agents import Agent
from moot.registry.tokens import Grant
from moot.tools import voting
from tests.cli.terminal import Terminal


def propose(
    terminal: Terminal, *electors: str, title: str = "Which colour?", tie_breaker: TieBreaker = "first"
) -> Proposal:
    """By ann, unless nobody else votes."""

    def change(tx: Tx) -> Proposal:
        instance = instances.get(tx, "default")
        creator = agents.named(tx, instance.stream, "ann")
        new = NewProposal(
            stream=instance.stream,
            instance=instance.name,
            type="decision",
            title=title,
            creator=creator.name,
            creator_id=creator.id,
            description="For the wall.",
            options={"red": "Red wine", "blue": "Blue sky"},
            electors=voting.electorate(tx, instance, electors),
            tie_breaker=tie_breaker,
            lasts=timedelta(hours=1),
        )
        return voting.start(tx, instance, new)

    return terminal.act(lambda connection: connection.store.write(change, caller=SYSTEM))


def token(terminal: Terminal, agent: Agent) -> dict[str, str]:
    async def mint(connection: Connection) -> str:
        text = tokens.new_text()
        grant = Grant("member", agent.instance, "member", agent.id)
        await connection.store.write(lambda tx: tokens.mint(tx, text, grant), caller=SYSTEM)
        return text

    return {"MOOT_TOKEN": terminal.act(mint)}


def test_nothing_to_vote_on_is_said_and_makes_no_store(terminal: Terminal) -> None:
    assert terminal.ok("vote").out == "nothing to vote on\n"
    assert terminal.ok("vote", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()


def test_open_proposals_are_listed(both: Terminal) -> None:
    both.join("ann")
    propose(both, "ann", "human")
    heading, row = both.ok("vote").out.splitlines()
    assert heading.split() == ["ID", "STATUS", "VOTES", "UNTIL", "TITLE"]
    assert row.startswith("prop-001  active    0/2")
    assert row.endswith("  Which colour?")
    assert [one["id"] for one in both.ok("vote", "--json").json] == ["prop-001"]


def test_a_person_who_is_named_votes_once(both: Terminal) -> None:
    ann = both.join("ann")
    propose(both, "ann", "human")
    assert both.ok("vote", "prop-001", "red", "--reason", "warm").out == 'voted for "Red wine"; 1/2 votes received\n'
    assert both.ok("vote", "prop-001", "Red wine").out == 'vote already recorded for "Red wine"\n'
    refused = both.run("vote", "prop-001", "blue")
    assert (refused.code, refused.err) == (
        1,
        'error: ALREADY_VOTED: You already voted for "Red wine".\n  Votes cannot be changed.\n',
    )
    assert both.ok("vote", "prop-001", "red", env=token(both, ann)).out == (
        'voted for "Red wine"; 2/2 votes received\nresult: Red wine\n'
    )
    assert both.ok("vote").out == "nothing to vote on\n"
    assert [one["status"] for one in both.ok("vote", "--all", "--json").json] == ["resolved"]
    said = [one["message"] for one in both.ok("log", "--json").json]
    assert said[1:] == [
        '[VOTE:prop-001] I vote for "Red wine" (warm)',
        '[VOTE:prop-001] I vote for "Red wine"',
        "[RESOLVED:prop-001] Which colour?\nResult: Red wine\nVotes: red=2",
    ]


def test_how_it_stands_is_shown(terminal: Terminal) -> None:
    ann = terminal.join("ann")
    propose(terminal, "ann", "human")
    terminal.ok("vote", "prop-001", "blue", env=token(terminal, ann))
    shown = terminal.ok("vote", "prop-001").out.splitlines()
    assert shown[0] == "prop-001  active  Which colour?"
    assert shown[1] == "For the wall."
    assert shown[2].startswith("decision, plurality, advisory; 1/2 votes, until ")
    assert [line.split() for line in shown[3:]] == [
        ["VOTES", "OPTION", "LABEL", "VOTERS"],
        ["0", "red", "Red", "wine"],
        ["1", "blue", "Blue", "sky", "ann"],
    ]
    assert terminal.ok("vote", "prop-001", "--json").json["result"]["votes"] == {"ann": "blue"}
    terminal.ok("vote", "prop-001", "blue")
    assert terminal.ok("vote", "prop-001").out.splitlines()[-1] == "result: Blue sky"


def test_a_person_who_is_not_named_does_not_vote(terminal: Terminal) -> None:
    terminal.join("ann")
    propose(terminal)
    refused = terminal.run("vote", "prop-001", "red")
    assert (refused.code, refused.err) == (
        1,
        "error: NOT_AN_ELECTOR: You are not among those who vote on prop-001.\n  Those are: ann.\n",
    )


def test_the_operator_cancels_and_breaks_ties(terminal: Terminal) -> None:
    ann = terminal.join("ann")
    propose(terminal, "ann", "human", tie_breaker="creator-decides")
    terminal.ok("vote", "prop-001", "blue", env=token(terminal, ann))
    terminal.ok("vote", "prop-001", "red")
    assert terminal.ok("vote", "prop-001").out.splitlines()[-1] == (
        "tied; ann decides with: moot vote prop-001 CHOICE --decide"
    )
    assert terminal.ok("vote", "prop-001", "red", "--decide").out == 'decided for "Red wine"\nresult: Red wine\n'
    propose(terminal)
    assert terminal.ok("vote", "prop-002", "--cancel", "--reason", "no time").out == "cancelled prop-002\n"
    assert terminal.ok("vote", "prop-002").out.splitlines()[-1] == "reason: no time"


def test_an_agent_cancels_only_its_own(terminal: Terminal) -> None:
    terminal.join("ann")
    bob = terminal.join("bob")
    propose(terminal)
    refused = terminal.run("vote", "prop-001", "--cancel", env=token(terminal, bob))
    assert refused.code == 1
    assert "NOT_ALLOWED: Only ann can cancel prop-001." in refused.err


def test_nothing_that_was_proposed_acts_on_the_terminal(terminal: Terminal) -> None:
    terminal.join("ann")
    propose(terminal, title="\x1b[31mred")
    for words in (["vote"], ["vote", "prop-001"], ["vote", "--json"]):
        assert "\x1b" not in terminal.ok(*words).out


def test_wrong_usage_is_told(terminal: Terminal) -> None:
    terminal.join("ann")
    propose(terminal, "human")
    wrong = [
        (["vote", "prop-999"], 1, "PROPOSAL_NOT_FOUND"),
        (["vote", "prop-999", "red"], 1, "PROPOSAL_NOT_FOUND"),
        (["vote", "prop-001", "red", "--instance", "other"], 1, "INSTANCE_NOT_FOUND"),
        (["vote", "prop-001", "--instance", "other"], 1, "INSTANCE_NOT_FOUND"),
        (["vote", "prop-001", "green"], 2, "OPTION_UNKNOWN"),
        (["vote", "prop-001", "red", "--decide"], 1, "NOT_TIED"),
        (["vote", "prop-001", "--all"], 2, "--all is for the list"),
        (["vote", "--cancel"], 2, "--cancel needs the ID"),
        (["vote", "prop-001", "red", "--cancel"], 2, "--cancel takes no CHOICE"),
        (["vote", "prop-001", "--decide"], 2, "--decide needs"),
        (["vote", "--reason", "x"], 2, "--reason needs"),
        (["vote", "prop-001", "red", "blue"], 2, "unexpected extra argument"),
    ]
    for words, code, said in wrong:
        ended = terminal.run(*words)
        assert (ended.code, ended.out) == (code, ""), words
        assert said in ended.err
        assert "Traceback" not in ended.err
    assert terminal.ok("vote", "prop-001", "--json").json["result"]["votes"] == {}
    assert [one["instance"] for one in terminal.ok("list", "--json").json] == ["default"]
