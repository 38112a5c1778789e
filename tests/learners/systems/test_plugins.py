"""Systems from outside: a class of the current folder, or an entry point of an installed package."""

import sys
from importlib.metadata import EntryPoint

import pytest

from learners.errors import UnknownSystemError
from learners.seed_models.store import ModelStore
from learners.systems import plugins
from learners.systems.registry import SYSTEMS, find_system, installed_systems
from tests.learners.rounds import propose

MODULE = '''
"""A module as a user writes it."""

from dataclasses import dataclass

from learners.contract import Learner
from learners.systems.registry import SYSTEMS


@dataclass(frozen=True)
class Config:
    ending: str = "!"  # what is appended


class Shout(Learner):
    """Shouts the source.

    More on it."""

    def __init__(self, config: Config, *, seed: int, volume=1):
        self.ending, self.seed = config.ending, seed

    def propose(self, sentence):
        return sentence.source.upper() + self.ending

    def update(self, sentence, translation, feedback):
        pass


class Quiet(Shout):
    def __init__(self, config=Config("...")):
        self.ending = config.ending


class Needy(Shout):
    def __init__(self, dictionary):
        pass


class Loose(Shout):
    def __init__(self, config):
        pass


class Half(Learner):
    def propose(self, sentence):
        return "x"


COPY = SYSTEMS["copy-source"]
NUMBER = 3
'''


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "shouting.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("x = 1\ny = x / 0\n")
    (tmp_path / "lacking.py").write_text("import no_such_package\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("shouting", "broken", "lacking"):
        sys.modules.pop(name, None)


@pytest.fixture
def entries(monkeypatch):
    """Install entry points, by name and value."""

    def install(*pairs):
        found = [EntryPoint(name, value, plugins.GROUP) for name, value in pairs]
        monkeypatch.setattr(
            plugins, "entry_points", lambda group, name=None: [one for one in found if name in (None, one.name)]
        )

    return install


def test_a_class_of_the_current_folder_is_a_system(tmp_path):
    system = find_system("shouting:Shout")
    assert (system.name, system.description, system.stochastic) == ("Shout", "Shouts the source.", True)
    learner = system.new_learner(ModelStore(tmp_path), 7)
    assert (propose(learner, "rot"), learner.seed) == ("ROT!", 7)  # type: ignore[attr-defined]
    changed = system.with_settings({"ending": "?"})
    assert propose(changed.new_learner(ModelStore(tmp_path), 7), "rot") == "ROT?"
    assert changed.identity(ModelStore(tmp_path), 7) == {
        "system": "shouting:Shout",
        "seed": 7,
        "setting ending": "?",
    }


def test_a_class_without_a_seed_is_deterministic_and_its_config_may_be_a_default(tmp_path):
    system = find_system("shouting:Quiet")
    assert not system.stochastic
    assert propose(system.new_learner(ModelStore(tmp_path), 7), "rot") == "ROT..."


def test_a_module_can_have_a_system_with_everything_that_ours_have():
    assert find_system("shouting:COPY") is SYSTEMS["copy-source"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nowhere:X", "there is no module 'nowhere' for the system 'nowhere:X', neither in "),
        ("shouting:Whisper", "shouting:Whisper: the module shouting ("),
        ("shouting:", "shouting:: the module shouting ("),
        ("shouting.py:Shout", "shouting.py:Shout: a module is named as in an import statement, such as shouting:Shout"),
        ("./a/shouting.py:Shout", "./a/shouting.py:Shout: a module is named as in an import statement, such as a.shou"),
        (":Shout", ":Shout: a module is named as in an import statement"),
        ("broken:X", "broken:X: importing broken failed: ZeroDivisionError: division by zero ("),
        ("lacking:X", "lacking:X: importing lacking failed: No module named 'no_such_package'"),
        ("shouting:NUMBER", "shouting:NUMBER is neither a subclass of learners.contract.Learner nor a System: it is 3"),
        ("shouting:Config", "shouting:Config is neither a subclass of learners.contract.Learner nor a System: it is"),
        ("shouting:Half", "shouting:Half does not define update, which every learner has"),
        ("shouting:Needy", "shouting:Needy cannot be made without 'dictionary': give it a default, or make it a field"),
        ("shouting:Loose", "shouting:Loose: the parameter config must have a dataclass as its type or default"),
        ("shouting", "there is no system 'shouting'; there are copy-source, "),
    ],
)
def test_what_is_no_system_is_refused_in_one_line(name, complaint):
    with pytest.raises(UnknownSystemError) as refused:
        find_system(name)
    assert str(refused.value).startswith(complaint)
    assert "\n" not in str(refused.value)


def test_an_entry_point_is_a_system_under_its_name(entries, tmp_path):
    entries(("loud", "shouting:Shout"), ("copy-source", "shouting:Shout"), ("sad", "broken:X"))
    system = find_system("loud")
    assert (system.name, system.identity(ModelStore(tmp_path), 1)["system"]) == ("loud", "loud")
    assert find_system("copy-source") is SYSTEMS["copy-source"]
    listed, complaints = installed_systems()
    assert [one.name for one in listed] == [*SYSTEMS, "loud"]
    assert complaints == [
        "an installed package has a system copy-source, too, which is never played: rename it there",
        f"sad: importing broken failed: ZeroDivisionError: division by zero ({tmp_path / 'broken.py'}, line 2)",
    ]
    with pytest.raises(UnknownSystemError, match=r"BNMT-EL, .*, loud, sad, and any learner as module:Class"):
        find_system("quiet")


def test_the_entry_points_of_a_package_are_found_where_it_is_installed(tmp_path, monkeypatch):
    installed = tmp_path / "site-packages" / "loud_package-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: loud-package\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[banditmt.systems]\nloud = shouting:Shout\n")
    monkeypatch.syspath_prepend(str(installed.parent))
    assert find_system("loud").origin == "loud-package 1.0: shouting:Shout"
    assert "loud" in [system.name for system in installed_systems()[0]]


def test_two_packages_with_one_name_are_refused_and_so_is_a_system_of_another_name(entries):
    twice = (("loud", "shouting:Shout"), ("loud", "shouting:Quiet"))
    entries(*twice, ("copy", "shouting:COPY"), ("a b", "shouting:Shout"))
    with pytest.raises(UnknownSystemError, match=r"loud is a system of .*: uninstall all but one"):
        find_system("loud")
    with pytest.raises(UnknownSystemError, match="the entry point copy is a system of another name, copy-source"):
        find_system("copy")
    with pytest.raises(UnknownSystemError, match="the leaderboard cannot show the name 'a b'"):
        find_system("a b")
