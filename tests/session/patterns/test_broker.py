from moot.session.patterns.broker import Broker


def test_a_failure_is_news_whatever_was_told_of_its_member_before() -> None:
    broker = Broker(["ann", "ben"])
    broker.was_told("ben", ["ann#1"])  # in an execution that is repeated now
    broker.publish("failure", "ann", "ann failed", None)
    assert [one.message for one in broker.news("ben")] == ["ann failed"]
    assert broker.news("ben") == []
