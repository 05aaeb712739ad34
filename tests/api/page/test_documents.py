"""Documents are seen as they are and as they were, and changed only by who knows how they are."""

from typing import Any

from tests.web.site import Browser


async def write(browser: Browser, content: str, base: int) -> Any:
    return await browser.post("/api/document", {"file": "notes.md", "content": content, "base": base})


async def test_a_document_is_made_changed_and_read(browser: Browser) -> None:
    assert (await write(browser, "one\n", 0))["version"] == 1
    assert (await write(browser, "two\n", 1))["version"] == 2
    assert (await write(browser, "two\n", 2))["changed"] is False
    assert (await browser.get("/api/document", file="notes.md"))["content"] == "two\n"
    old = await browser.get("/api/document", file="notes.md", version=1)
    assert (old["content"], old["author"]) == ("one\n", "human")
    (listed,) = (await browser.get("/api/documents"))["documents"]
    assert (listed["file"], listed["version"], listed["entry_point"]) == ("notes.md", 2, True)
    assert await browser.refused("/api/document", file="no.md") == (404, "DOCUMENT_NOT_FOUND")


async def test_who_did_not_know_of_a_change_is_shown_both_versions(browser: Browser) -> None:
    await write(browser, "base\n", 0)
    await write(browser, "theirs\n", 1)
    answer = await browser.send("/api/document", {"file": "notes.md", "content": "mine\n", "base": 1})
    assert answer.status_code == 409
    error = answer.json()["error"]
    assert error["code"] == "DOCUMENT_CHANGED"
    assert (error["current"]["version"], error["current"]["content"]) == (2, "theirs\n")
    assert (error["base"]["version"], error["base"]["content"]) == (1, "base\n")
    assert (await browser.get("/api/document", file="notes.md"))["content"] == "theirs\n"
    assert (await write(browser, "mine\n", 2))["version"] == 3


async def test_a_document_that_somebody_else_made_meanwhile_is_shown(browser: Browser) -> None:
    await write(browser, "theirs\n", 0)
    answer = await browser.send("/api/document", {"file": "notes.md", "content": "mine\n", "base": 0})
    error = answer.json()["error"]
    assert (error["code"], error["current"]["content"], error["base"]["content"]) == (
        "DOCUMENT_CHANGED",
        "theirs\n",
        "",
    )


async def test_history_is_seen_in_windows(browser: Browser) -> None:
    for version in range(5):
        await write(browser, f"{version}\n", version)
    newest = await browser.get("/api/document/history", file="notes.md", limit=2)
    assert ([one["version"] for one in newest["versions"]], newest["has_older"]) == ([5, 4], True)
    rest = await browser.get("/api/document/history", file="notes.md", limit=5, before=4)
    assert ([one["version"] for one in rest["versions"]], rest["has_older"]) == ([3, 2, 1], False)


async def test_two_versions_are_compared_line_by_line(browser: Browser) -> None:
    lines = [f"line {number}" for number in range(20)]
    await write(browser, "\n".join(lines), 0)
    lines[10] = "another"
    await write(browser, "\n".join([*lines, "last"]), 1)
    diff = await browser.get("/api/document/diff", file="notes.md", **{"from": 1, "to": 2})
    changed = [(one["kind"], one["text"], one["old"], one["new"]) for one in diff["lines"] if one["kind"] != "same"]
    assert changed == [
        ("skipped", "", None, None),
        ("removed", "line 10", 11, None),
        ("added", "another", None, 11),
        ("skipped", "", None, None),
        ("added", "last", None, 21),
    ]
    assert (
        sum(one.get("count", 0) for one in diff["lines"])
        + len([one for one in diff["lines"] if one["kind"] in ("same", "removed")])
        == 20
    )
    made = await browser.get("/api/document/diff", file="notes.md", **{"from": 0, "to": 1})
    assert {one["kind"] for one in made["lines"]} == {"added"}


async def test_paths_that_lead_elsewhere_are_refused(browser: Browser) -> None:
    for file in ("../x.md", "/etc/passwd", "a/../../x", "channel.md", "CLAUDE.md", "", "a\\b" * 300):
        status, code = await browser.refused("/api/document", {"file": file, "content": "x", "base": 0})
        assert (status, code) in ((400, "PATH_REFUSED"), (400, "INVALID_INPUT")), file
