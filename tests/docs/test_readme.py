"""What the README shows first works as it stands there."""

from tests.cli.terminal import Terminal
from tests.docs import pages

MAKEFILE = "test:\n\t@echo passed\n"


def test_the_plan_of_the_readme_is_done_and_its_python_runs(terminal: Terminal) -> None:
    found = {one.name: one.text for one in pages.blocks("README.md") if one.name}
    assert set(found) == {"pair.yaml", "fix.yaml", "loc.yaml"}
    for name, text in found.items():
        (terminal.folder / name).write_text(text)
    (terminal.folder / "Makefile").write_text(MAKEFILE)
    assert "2 of 2 tasks" in terminal.ok("run", "fix.yaml").out
    (program,) = [one.text for one in pages.blocks("README.md") if one.language == "python"]
    ended = terminal.python(program)
    assert ended.code == 0, ended.err
    assert "coder Mended." in ended.out


def test_every_page_is_in_the_index() -> None:
    index = (pages.ROOT / "docs" / "README.md").read_text()
    listed = [page for page in pages.all_pages() if page.startswith("docs/") and page.count("/") == 1]
    missing = [page for page in listed if page != "docs/README.md" and f"]({page.removeprefix('docs/')}" not in index]
    assert missing == []


def test_every_yaml_of_a_block_that_is_a_whole_file_is_checked(terminal: Terminal) -> None:
    """Pages that have no test of their own: what looks like a file is taken as one."""
    for page in ("docs/tutorial.md", "docs/python.md"):
        for block in pages.blocks(page):
            if block.language == "yaml" and block.name and "stock" not in block.text:
                (terminal.folder / block.name).write_text(block.text)
                assert terminal.run("check", block.name).code == 0, block.name
