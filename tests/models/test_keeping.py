from moot.models import keeping
from moot.models.keeping import Kept
from moot.models.model import Answer, Call

CALLS = (Call("c1", "look", '{"at": "Zürich"}'), Call("c2", "look", "{"))


def test_an_answer_comes_back_as_it_was() -> None:
    answer = Answer("Grüße", CALLS, "tools")
    assert keeping.load(keeping.dump(answer)) == answer


def test_what_a_provider_wants_back_is_kept_as_it_is() -> None:
    answer = Answer("x", kept=Kept({"parts": [1, {"signature": "abc"}]}))
    assert keeping.load(keeping.dump(answer)).kept == answer.kept


def test_a_whole_answer_is_left_alone() -> None:
    answer = Answer("Grüße 🙂", CALLS)
    assert keeping.storable(answer) is answer


def test_halves_of_characters_are_replaced() -> None:
    broken = Answer("a\ud800b", (Call("c", "look", '{"x": "\udfff"}'),), kept=Kept("\ud800"))
    mended = keeping.storable(broken)
    assert (mended.text, mended.calls[0].arguments, mended.kept) == ("a\ufffdb", '{"x": "\ufffd"}', None)
