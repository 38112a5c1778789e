"""Names of runs with changed settings: what they say, and which role and family they imply."""

import pytest

from leaderboard.families import HOUSE_PARTICIPANT, RoleKind, default_role, family_from_name, name_with_settings
from task.names import MAX_NAME_CHARACTERS, is_name


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ([], "BNMT-EL"),
        ([("batch", "16")], "BNMT-EL+batch-16"),
        ([("batch", "16"), ("optimiser.betas", "0.9,0.99")], "BNMT-EL+batch-16+optimiser.betas-0.9_0.99"),
        ([("ending", "?+/ü")], "BNMT-EL+ending-____"),
    ],
)
def test_the_name_of_a_run_says_its_settings(settings, name):
    assert name_with_settings("BNMT-EL", settings) == name
    assert is_name(name)


def test_too_many_settings_are_a_digest():
    many = [(f"optimiser.learning_rate_{number}", "0.0001") for number in range(3)]
    name = name_with_settings("BNMT-EL", many)
    assert name == "BNMT-EL+7aa32835"
    assert name_with_settings("BNMT-EL", many[:2]) != name
    assert len(name_with_settings("x" * 40, [("a" * 7, "b" * 7)]) + ".s123456") <= MAX_NAME_CHARACTERS


@pytest.mark.parametrize(
    ("system", "kind", "family"),
    [
        ("BNMT-EL+batch-16.s2", RoleKind.CONTESTANT, "BNMT"),
        ("SMT-full-information+candidates-5", RoleKind.FULL_INFORMATION, "SMT"),
        ("SMT-full-information.s2", RoleKind.FULL_INFORMATION, "SMT"),
        ("SMT-sampling+weight_scale-5.0.s3", RoleKind.CONTROL, "SMT"),
        ("Shout+ending-x", RoleKind.CONTESTANT, "Shout"),
    ],
)
def test_settings_change_neither_role_nor_family(system, kind, family):
    assert (default_role(HOUSE_PARTICIPANT, system).kind, family_from_name(system)) == (kind, family)
