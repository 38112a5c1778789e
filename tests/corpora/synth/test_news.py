"""Lines of the newspaper."""

from corpora.synth.news import drop_redundant_commas


def test_the_comma_after_a_relative_clause_is_dropped_before_punctuation():
    assert drop_redundant_commas("der plan , der scheitert , , und der rat") == "der plan , der scheitert , und der rat"
    assert drop_redundant_commas("der plan , der scheitert , .") == "der plan , der scheitert ."
