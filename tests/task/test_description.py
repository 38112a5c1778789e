"""``task.json``: what is written is what is read, and what is wrong is named."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.description import (
    PARTS,
    AboutTask,
    DescriptionError,
    FileSummary,
    TaskDescription,
    file_name,
    parse_description,
)
from task.feedback import CHRF, FeedbackKind, FeedbackSpec
from task.languages import LOWERCASED_MOSES, LanguagePair
from task.layout import Layout

DIGEST = "0123456789abcdef" * 4
DESCRIPTION = TaskDescription(
    LanguagePair("de", "pt-BR"),
    "test 1",
    "CC0-1.0",
    FeedbackSpec("skewed:2", seed=7),
    phases={"mock": Layout.plain(3), "dev": Layout(2, 2, 4)},
    files={"mock.de.gz": FileSummary(3, 20, DIGEST)},
    cleaning={"training": {"read": 9, "empty": 2}},
)

TEXT = """{
  "format": 1,
  "source": "de",
  "target": "pt-BR",
  "seed": 7,
  "generator": "test 1",
  "licence": "CC0-1.0",
  "phases": {
    "mock": {
      "blocks": 0,
      "block": 0,
      "gap": 3
    },
    "dev": {
      "blocks": 2,
      "block": 2,
      "gap": 4
    }
  },
  "files": {
    "mock.de.gz": {
      "lines": 3,
      "bytes": 20,
      "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    }
  },
  "cleaning": {
    "training": {
      "read": 9,
      "empty": 2
    }
  },
  "feedback": {
    "perturbation": "skewed:2",
    "signature": "sentBLEU|nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.01]|nomatch:floored|v:1|perturb:skewed:2"
  }
}
"""


def test_the_text_of_a_description():
    assert DESCRIPTION.to_json() == TEXT


def test_a_description_reads_as_it_was_written():
    assert parse_description(TEXT) == DESCRIPTION


@given(
    st.dictionaries(st.sampled_from(["mock", "dev", "training"]), st.builds(Layout.plain, st.integers(1, 10**9))),
    st.integers(),
    st.text(),
)
def test_any_description_reads_as_it_was_written(phases, seed, licence):
    feedback = FeedbackSpec(seed=seed)
    description = TaskDescription(LanguagePair("de", "en"), "test 1", licence, feedback, phases=phases)
    assert parse_description(description.to_json()) == description


POST_EDITED = replace(
    DESCRIPTION,
    feedback=FeedbackSpec("skewed:2", 7, FeedbackKind.POST_EDIT, CHRF),
    signature="",
    phases={"mock": Layout.plain(3), "dev": Layout(2, 2, 4)},
    phase_feedback={"dev": FeedbackSpec(seed=7)},
    about=AboutTask("Shop", "organiser@example.org"),
)


def test_a_task_with_documents_serves_them_only_if_it_says_so():
    assert not DESCRIPTION.phase("dev").documents
    served = replace(DESCRIPTION, serves_documents=True)
    assert served.phase("dev").documents
    assert parse_description(served.to_json()) == served


def test_format_2_says_more_of_feedback_and_of_the_task():
    written = json.loads(POST_EDITED.to_json())
    assert written["format"] == 2
    assert written["feedback"] == {
        "kind": "post-edit",
        "metric": "chrf",
        "perturbation": "skewed:2",
        "signature": "sentChrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|v:1|perturb:skewed:2",
    }
    assert written["phases"]["dev"]["feedback"]["kind"] == "bandit"
    assert written["documents"] is False
    assert written["about"] == {"title": "Shop", "contact": "organiser@example.org", "out_of_domain_url": ""}


def test_format_2_reads_as_it_was_written():
    assert parse_description(POST_EDITED.to_json()) == POST_EDITED


def test_a_phase_has_its_own_feedback_or_that_of_the_task():
    assert POST_EDITED.phase("mock").feedback.shows_post_edits
    assert POST_EDITED.phase("dev").feedback == FeedbackSpec(seed=7)
    assert POST_EDITED.phase("dev").layout == Layout(2, 2, 4)


def test_a_phase_with_held_out_passes_cannot_show_post_edits():
    text = TEXT.replace(
        '"format": 1', '"format": 2, "documents": true, "about": {"title": "", "contact": "", "out_of_domain_url": ""}'
    )
    text = text.replace('"perturbation": "skewed:2"', '"kind": "post-edit", "metric": "chrf", "perturbation": "none"')
    with pytest.raises(DescriptionError, match="phase dev shows post-edits, so it cannot have held-out passes"):
        parse_description(text)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"kind": "gossip"}, "feedback: unknown feedback 'gossip'; known are bandit, post-edit"),
        ({"metric": "comet"}, "feedback: unknown metric 'comet'; known are sentence-bleu, chrf"),
        ({"metric": 3}, "feedback.metric is 3, but should be text"),
    ],
)
def test_wrong_feedback_of_format_2_is_named(entries, message):
    written = json.loads(POST_EDITED.to_json())
    written["feedback"] |= entries
    with pytest.raises(DescriptionError) as refused:
        parse_description(json.dumps(written))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"title": "two\nlines"}, "about: the title is one line of printable characters"),
        ({"title": "x" * 101}, "about: the title has 101 characters, but at most 100 are allowed"),
        ({"out_of_domain_url": "javascript:alert(1)"}, "about: the out-of-domain URL is not an address of the web"),
        ({"contact": 3}, "about.contact is 3, but should be text"),
    ],
)
def test_what_the_public_cannot_be_shown_is_refused(entries, message):
    written = json.loads(POST_EDITED.to_json())
    written["about"] |= entries
    with pytest.raises(DescriptionError) as refused:
        parse_description(json.dumps(written))
    assert str(refused.value).startswith(message)


def test_what_follows_from_a_description():
    assert (DESCRIPTION.seed, DESCRIPTION.convention) == (7, LOWERCASED_MOSES)
    assert not DESCRIPTION.has_documents
    assert parse_description(TEXT.replace("mock.de.gz", "mock.documents.gz")).has_documents


def test_a_signature_of_another_version_is_kept():
    older = parse_description(TEXT.replace("|v:1|", "|v:0|"))
    assert older.signature.endswith("|v:0|perturb:skewed:2")
    assert older.feedback.signature.endswith("|v:1|perturb:skewed:2")


def test_the_parts_of_a_task_and_their_files():
    assert PARTS == ("out-of-domain", "mock", "dev", "training")
    assert file_name("dev", "de") == "dev.de.gz"
    assert file_name("dev", "documents") == "dev.documents.gz"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 3}, "format is 3, but this version reads formats 1 and 2"),
        ({"format": True}, "format is True, but this version reads formats 1 and 2"),
        ({"seed": "7"}, "seed is '7', but should be a whole number"),
        ({"seed": True}, "seed is True, but should be a whole number"),
        ({"generator": 5}, "generator is 5, but should be text"),
        ({"source": "../de"}, "source is '../de', which is not a language code"),
        ({"phases": {"test": {}}}, "unknown phase 'test'; known are mock, dev, training"),
        ({"phases": {"mock": {"blocks": 0}}}, "phases.mock lacks block, gap"),
        ({"phases": {"mock": {"blocks": 0, "block": 0, "gap": -1}}}, "phases.mock.gap is negative"),
        ({"phases": {"mock": {"blocks": 0, "block": 0, "gap": 0}}}, "phase mock cannot be laid out: a phase serves at"),
        ({"phases": []}, "phases should be an object, but is list"),
        ({"files": {"../x.gz": {}}}, "files names '../x.gz', which is not a file of a task"),
        ({"files": {"x.gz": {"lines": 1, "bytes": 1, "sha256": "?"}}}, "files.x.gz.sha256 is not a SHA-256 digest"),
        ({"cleaning": {"dev": {"read": -1}}}, "cleaning.dev.read is negative"),
        ({"surprise": 1}, "the file has unknown entries: surprise"),
        ({"feedback": {"perturbation": "none"}}, "feedback lacks signature"),
        ({"feedback": {"perturbation": "loud:3", "signature": ""}}, "feedback: unknown feedback noise"),
        ({"feedback": {"perturbation": None, "signature": ""}}, "feedback.perturbation is None, but should be text"),
    ],
)
def test_a_wrong_entry_is_named(changes, message):
    with pytest.raises(DescriptionError) as refused:
        parse_description(json.dumps({**json.loads(TEXT), **changes}))
    assert str(refused.value).startswith(message)


def test_what_is_not_json_is_named_with_its_line():
    with pytest.raises(DescriptionError, match="not JSON") as refused:
        parse_description('{\n"format": 1,\n}')
    assert refused.value.line in (2, 3)  # which one depends on the version of Python


@pytest.mark.parametrize("text", ["[" * 100_000, f'{{"format": {"1" * 5_000}}}'], ids=["nested", "digits"])
def test_json_beyond_all_reason_is_refused(text):
    with pytest.raises(DescriptionError, match="not JSON that a task has"):
        parse_description(text)
