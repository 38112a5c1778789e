"""The codes of errors, which clients switch on, and their HTTP statuses."""

from lambdas import errors


def test_every_error_has_its_own_code():
    def tree(error):
        return [error, *(below for child in error.__subclasses__() for below in tree(child))]

    listed = {error.code: error.status for error in tree(errors.ServiceError)}
    assert listed == {
        "bad_request": 400,
        "invalid_translation": 400,
        "invalid_key": 403,
        "phase_closed": 403,
        "run_not_found": 404,
        "phase_not_found": 404,
        "not_found": 404,
        "already_played": 409,
        "translation_conflict": 409,
        "wrong_sentence": 409,
        "run_finished": 410,
        "too_large": 413,
        "throttled": 429,
        "quota_exceeded": 429,
        "internal": 500,
        "unavailable": 503,
    }
