"""What people look for, as they write it: `words that all occur "a phrase" -without prefix*`.

Nothing of it reaches a database as syntax: words are cut out here and put together anew in each one's language.
"""

import re
import unicodedata

from moot.core import text
from moot.core.errors import InvalidInput
from moot.core.records import record

MOST_CHARACTERS = 500
MOST_TERMS = 50
_PIECE = re.compile(r'(-(?=[^\s-]))?(?:"([^"]*)"?(\*?)|(\S+))')
_LETTERS = frozenset("LNM")  # letters, numbers, and the marks on them


class NothingWanted(InvalidInput):
    """There is no word in it that could be found."""

    code = "NOTHING_WANTED"


@record
class Term:
    """Words that follow one another."""

    words: tuple[str, ...]
    is_prefix: bool = False  # the last one may go on
    is_excluded: bool = False


@record
class Wanted:
    terms: tuple[Term, ...]

    @property
    def fts5(self) -> str:
        """In the language of SQLite's index."""
        wanted = " AND ".join(_fts5(term) for term in self.terms if not term.is_excluded)
        return wanted + "".join(f" NOT {_fts5(term)}" for term in self.terms if term.is_excluded)

    @property
    def tsquery(self) -> str:
        """In PostgreSQL's language."""
        return " & ".join(_tsquery(term) for term in self.terms)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Finds any of the wanted terms in a text."""
        return re.compile("|".join(_pattern(term) for term in self.terms if not term.is_excluded), re.IGNORECASE)


def parse(query: str) -> Wanted:
    """NothingWanted unless there is something that must occur."""
    pieces = _PIECE.finditer(text.clean(query, "search", limit=MOST_CHARACTERS))
    terms = tuple(term for piece in pieces if (term := _term(piece)).words)
    if all(term.is_excluded for term in terms):
        raise NothingWanted(
            f"There is no word to look for in {query[:80]!r}.", "Write words of letters or digits that must occur."
        )
    if len(terms) > MOST_TERMS:
        raise InvalidInput(f"{len(terms)} words are too many to look for at once.", f"Write up to {MOST_TERMS}.")
    return Wanted(terms)


def _term(piece: re.Match[str]) -> Term:
    minus, phrase, star, word = piece.groups()
    is_prefix = bool(star) if word is None else word.endswith("*")
    return Term(_words(phrase if word is None else word), is_prefix, minus is not None)


def _words(spelling: str) -> tuple[str, ...]:
    """Whatever stands between words parts them: `user_id` is two that follow one another."""
    return tuple("".join(one if unicodedata.category(one)[0] in _LETTERS else " " for one in spelling).split())


def _fts5(term: Term) -> str:
    return f'"{" ".join(term.words)}"' + (" *" if term.is_prefix else "")


def _tsquery(term: Term) -> str:
    *first, last = (f"'{word}'" for word in term.words)
    phrase = " <-> ".join((*first, f"{last}:*" if term.is_prefix else last))
    return f"!({phrase})" if term.is_excluded else f"({phrase})"


def _pattern(term: Term) -> str:
    start, end = r"(?<![^\W_])", "" if term.is_prefix else r"(?![^\W_])"
    return start + r"[\W_]+".join(re.escape(word) for word in term.words) + end
