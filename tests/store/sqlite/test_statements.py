"""Statements as apsw is given them."""

from moot.store.sqlite.statements import statements


def test_what_is_between_quotes_stays_and_the_rest_is_short() -> None:
    sql = """select ':a ,  b' as "c  d", -- the :first,
      :x,  :y ( :x )"""
    found = statements[sql]
    assert found.text == """select ':a ,  b' as "c  d",  ?1,?2(?1)"""
    assert found.in_order({"y": 2, "x": 1}) == (1, 2)


def test_one_value_and_none_are_bound_by_place_too() -> None:
    assert statements["select 1"].in_order({}) == ()
    assert statements["select :x, :x"].in_order({"x": 1}) == (1,)


def test_those_about_streams_are_known() -> None:
    assert statements["select seq from streams"].looks_at_streams
    assert statements["select kind from events where stream = 's'"].looks_at_streams
    assert not statements["select stream, upstreams from messages"].looks_at_streams
