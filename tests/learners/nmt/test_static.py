"""A static translator proposes its model's translation, and translates each source once."""

from unittest.mock import patch

import pytest

from learners.nmt.static import StaticTranslator
from learners.nmt.translator import Translator
from tests.learners.nmt.toys import three_token_translator
from tests.learners.rounds import propose


@pytest.mark.parametrize(("beam", "method"), [(1, "greedy"), (3, "beam")])
def test_a_repeated_source_is_not_translated_again(beam, method):
    translator = three_token_translator()
    system = StaticTranslator(translator, beam=beam)
    expected = translator.greedy("a b").text if beam == 1 else translator.beam("a b", beam).text
    with patch.object(Translator, method, autospec=True, side_effect=getattr(Translator, method)) as search:
        assert [propose(system, source) for source in ("a b", "b", "a b")][::2] == [expected, expected]
    assert [call.args[1] for call in search.call_args_list] == ["a b", "b"]
