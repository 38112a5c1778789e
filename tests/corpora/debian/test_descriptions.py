"""Package descriptions and their translations."""

from corpora.debian.descriptions import description_pairs
from corpora.task import Pair


def test_descriptions_are_paired_by_digest_and_yielded_once():
    stanza = "Description-md5: {}\nDescription-{}: {}\n"
    english = [stanza.format(n, "en", text) for n, text in enumerate(["tool", "tool", "same"])]
    german = [stanza.format(n, "de", text) for n, text in enumerate(["Werkzeug", "Werkzeug", "same"])]
    pairs = description_pairs("".join(english).splitlines(), "".join(german).splitlines(), "de")
    assert list(pairs) == [Pair("Werkzeug", "tool")]
