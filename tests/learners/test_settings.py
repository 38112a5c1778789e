"""Settings: typed by the fields of a configuration, explained by their comments, refused in one line."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.errors import SettingError
from learners.settings import (
    FIXED,
    apply_settings,
    changed_settings,
    check_bounds,
    list_settings,
    parse_assignments,
    read_settings,
    to_text,
    to_toml,
)
from learners.systems.registry import SYSTEMS


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Group:
    rate: float = 0.1  # of learning
    # A comment above,
    # on two lines;
    norm: float | None = 1.0  # and beside

    def __post_init__(self):
        check_bounds(self, rate=(0, 1), norm=(0, None))


@dataclass(frozen=True)
class Parent:
    batch: int = 1  # rounds


@dataclass(frozen=True)
class Example(Parent):
    """A string that looks like a field: `x: int = 1  # no`."""

    group: Group = field(default_factory=Group)
    colour: Colour = Colour.RED
    loops: bool = False
    betas: tuple[float, float] = (0.9, 0.99)
    sizes: tuple[int, ...] = (1, 2)
    name: str = "a"
    path: Path | None = None
    variant: str = field(default="x", metadata=FIXED)
    hook: object = None


def test_settings_are_the_fields_with_their_comments_and_groups_come_last():
    listed = [(one.name, one.choices, one.text, one.why) for one in list_settings(Example())]
    assert listed == [
        ("batch", "a whole number", "1", "rounds"),
        ("colour", "one of red, blue", "red", ""),
        ("loops", "true or false", "false", ""),
        ("betas", "a number, a number", "0.9,0.99", ""),
        ("sizes", "a whole number, ...", "1,2", ""),
        ("name", "a text", "a", ""),
        ("path", "a path or none", "none", ""),
        ("hook", "<class 'object'>", "none", ""),
        ("group.rate", "a number", "0.1", "of learning"),
        ("group.norm", "a number or none", "1.0", "A comment above, on two lines; and beside"),
    ]
    assert list_settings(None) == list_settings(12) == []


def test_texts_become_values_of_the_type_of_their_field():
    texts = {
        "batch": "16",
        "colour": "blue",
        "loops": "true",
        "betas": "0.8, 0.9",
        "sizes": "3",
        "name": "16",
        "path": "a/b",
        "group.rate": "1e-4",
        "group.norm": "none",
    }
    changed = apply_settings(Example(), texts)
    assert changed == Example(16, Group(1e-4, None), Colour.BLUE, True, (0.8, 0.9), (3,), "16", Path("a/b"))
    assert changed_settings(Example(), changed) == {**texts, "betas": "0.8,0.9", "group.rate": "0.0001"}
    assert changed_settings(Example(), apply_settings(Example(), {"group.rate": "1e-1", "batch": "1"})) == {}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("batch", "1.5", "batch is a whole number, not '1.5'"),
        ("batch", "none", "batch is a whole number, not 'none'"),
        ("colour", "green", "colour is one of red, blue, not 'green'"),
        ("loops", "1", "loops is true or false, not '1'"),
        ("betas", "0.9", "betas is a number, a number, not '0.9'"),
        ("group.rate", "nan", "group.rate is a number, not 'nan'"),
        ("group.rate", "inf", "group.rate is a number, not 'inf'"),
        ("group.rate", "1.5", "rate must be between 0 and 1, not 1.5"),
        ("group.norm", "-1", "norm must be 0 or more, not -1.0"),
        ("hook", "x", "hook cannot be set by a text: its type is <class 'object'>"),
        ("group", "x", "there is no setting 'group'; there are batch, colour, loops, betas"),
        ("variant", "y", "there is no setting 'variant'; there are"),
        ("rate", "1", "there is no setting 'rate'; there are"),
    ],
)
def test_a_wrong_value_is_refused_with_what_the_setting_can_be(name, text, complaint):
    with pytest.raises(SettingError) as refused:
        apply_settings(Example(), {name: text})
    assert str(refused.value).startswith(complaint)


def test_a_system_without_a_config_has_no_setting():
    with pytest.raises(SettingError, match="there is no setting 'beam': this system has none"):
        apply_settings(None, {"beam": "1"})


@given(st.floats(0, 1), st.none() | st.floats(0), st.integers(), st.booleans(), st.lists(st.integers(), min_size=1))
def test_the_text_of_a_value_gives_the_value_again(rate, norm, batch, loops, sizes):
    if norm == float("inf"):
        norm = None
    config = Example(batch, Group(rate, norm), loops=loops, sizes=tuple(sizes))
    assert apply_settings(Example(), changed_settings(Example(), config)) == config


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"])))
def test_a_printed_file_is_read_with_the_same_values(name):
    config = Example(name=name, group=Group(1e-5, None))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "settings.toml"
        path.write_text(to_toml(config), encoding="utf-8")
        assert read_settings(path) == {one.name: one.text for one in list_settings(config)}


def test_a_printed_file_says_what_each_setting_can_be_and_why():
    assert to_toml(Group()) == (
        "# (a number) of learning\nrate = 0.1\n\n"
        "# (a number or none) A comment above, on two lines; and beside\nnorm = 1.0"
    )


def test_a_file_that_is_not_toml_is_refused_by_name(tmp_path):
    (tmp_path / "x.toml").write_text("batch: 16")
    with pytest.raises(SettingError, match=r"x\.toml is not a TOML file of settings: Expected '='"):
        read_settings(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(SettingError, match=r"x\.toml is not a TOML file of settings"):
        read_settings(tmp_path / "x.toml")


def test_assignments_have_a_name_and_a_value():
    assert parse_assignments(["a.b=1", " c = x=y ", "a.b=2"]) == {"a.b": "2", "c": "x=y"}
    for wrong in ("batch", "=3", ""):
        with pytest.raises(SettingError, match="a setting is given as NAME=VALUE"):
            parse_assignments([wrong])


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if list_settings(system.config)])
def test_every_registered_setting_says_why_and_can_be_set_to_what_it_is(name):
    config = SYSTEMS[name].config
    settings = list_settings(config)
    assert [one.name for one in settings if not one.why] == []
    assert apply_settings(config, {one.name: to_text(one.value) for one in settings}) == config
