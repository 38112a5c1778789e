"""The kinds of documents keep the strings that existing stores and the template's roles are written in."""

from lambdas.store import documents


def test_kinds_are_what_existing_stores_hold():
    assert [
        documents.PARTICIPANT,
        documents.API_KEY,
        documents.PHASE,
        documents.ROLE,
        documents.KEY_RING,
        documents.LOADING_CHECKPOINTS,
        documents.AWAITED_TEXT,
        documents.ERASURE,
        documents.ARCHIVE_IMPORT,
    ] == ["participant", "key", "phase", "role", "ring", "loading", "awaited", "erasure", "import"]


def test_claims_have_a_kind_for_each_participant_and_phase():
    assert documents.claims("acme", "dev") == "run/acme/dev"


def test_summaries_have_a_kind_for_each_phase():
    assert documents.run_summaries("dev") == "board/dev"
