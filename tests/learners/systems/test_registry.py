"""The registry: published names, and the settings behind them."""

from dataclasses import asdict, replace
from unittest.mock import Mock

import pytest

from leaderboard.families import HOUSE_PARTICIPANT, RoleKind, default_role
from learners.adaptation.statistical.learners import UnfairSmt
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.gradient import GradientLearner
from learners.bandit.optimiser import Method as OptimiserMethod
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.self_imitation import SelfImitationConfig
from learners.context.playing import ContextPlayer
from learners.contract import PLACEHOLDER, Feedback, Proposal, Sentence, StaticSystem, as_proposal
from learners.errors import ReferencesError, UnknownSystemError
from learners.nmt.static import StaticTranslator
from learners.offline.estimators import Method
from learners.oracles.k_best import KBestOracle
from learners.sampling_control import SamplingControl
from learners.seed_models.catalogue import BNMT
from learners.seed_models.store import ModelStore
from learners.snapshot import Snapshot
from learners.systems.adaptation import PostEditSystem
from learners.systems.registry import FAMILIES, SYSTEMS, find_system
from learners.systems.system import BanditSystem
from task.limits import is_log_probability
from tests.learners import tiny
from tests.learners.nmt.toys import TINY, tiny_translator
from tests.learners.rounds import propose

ROLES = {  # on the leaderboard, of the systems that are no contestants
    "copy-source": RoleKind.BASELINE,
    "word-for-word": RoleKind.BASELINE,
    "WMT16-static": RoleKind.BASELINE,
    "BNMT-static": RoleKind.BASELINE,
    "BNMT-beam": RoleKind.CONTROL,
    "BNMT-control": RoleKind.CONTROL,
    "BNMT-oracle": RoleKind.ORACLE,
    "SMT-static": RoleKind.BASELINE,
    "SMT-oracle": RoleKind.ORACLE,
    "CONTEXT-static": RoleKind.BASELINE,
    "CONTEXT-concat": RoleKind.CONTROL,
    "CONTEXT-s-hier-to-2.tied": RoleKind.CONTROL,
    "CONTEXT-cadec": RoleKind.CONTROL,
    "CONTEXT-concat-sampling": RoleKind.CONTROL,
    "CONTEXT-cadec-sampling": RoleKind.CONTROL,
    "BNMT-k-best-oracle": RoleKind.K_BEST_ORACLE,
    "BNMT-full-information": RoleKind.FULL_INFORMATION,
    "BNMT-sampling": RoleKind.CONTROL,
    "BNMT-sampling-T1": RoleKind.CONTROL,
    "BNMT-perturbed": RoleKind.CONTROL,
    "WNMT-sampling": RoleKind.CONTROL,
    "SMT-k-best-oracle": RoleKind.K_BEST_ORACLE,
    "SMT-full-information": RoleKind.FULL_INFORMATION,
    "SMT-sampling": RoleKind.CONTROL,
    "SMT-k-best-sampling": RoleKind.CONTROL,
    "SMT-perturbed": RoleKind.CONTROL,
    "SMT-SPLIT-static": RoleKind.BASELINE,
    "SMT-SPLIT-oracle": RoleKind.ORACLE,
    "SMT-SPLIT-k-best-oracle": RoleKind.K_BEST_ORACLE,
    "SMT-SPLIT-full-information": RoleKind.FULL_INFORMATION,
    "ADAPT-none": RoleKind.BASELINE,
    "BNMT-ADAPT-full-information": RoleKind.FULL_INFORMATION,
    "SMT-BG": RoleKind.BASELINE,
    "SMT-FG-UNFAIR": RoleKind.ORACLE,
    "SMT-ADAPT-full-information": RoleKind.FULL_INFORMATION,
}
ARMS = ("ARMS-UCB1", "ARMS-UCB1-TUNED", "ARMS-THOMPSON", "ARMS-LINEAR")
NAMES = [
    "copy-source",
    "word-for-word",
    "WMT16-static",
    "WNMT-sampling",
    "WNMT-EL",
    "BNMT-static",
    "BNMT-beam",
    "BNMT-control",
    "BNMT-oracle",
    "BNMT-k-best-oracle",
    "BNMT-full-information",
    "BNMT-sampling",
    "BNMT-sampling-T1",
    "BNMT-perturbed",
    "BNMT-EL",
    "BNMT-EL-CV",
    "BNMT-SZO-CV",
    "BNMT-EL-VALUE",
    "BNMT-IMPUTE",
    "BNMT-REPLAY",
    "SMT-static",
    "SMT-oracle",
    "SMT-k-best-oracle",
    "SMT-full-information",
    "SMT-sampling",
    "SMT-k-best-sampling",
    "SMT-perturbed",
    "SMT-EL-CV-ADADELTA",
    "SMT-EL-CV-ADAM",
    "SMT-SZO-CV-ADAM",
    "SMT-EL-WORDS",
    "SMT-SPLIT-static",
    "SMT-SPLIT-oracle",
    "SMT-SPLIT-k-best-oracle",
    "SMT-SPLIT-full-information",
    "SMT-LINEAR",
    "SMT-IMPUTE",
    "CHAMPION",
    "LIMSI-UCB1",
    "LIMSI-UCB1-SAMPLING",
    "LIMSI-UCB1-SELECT",
    "UMD-domain-adaptation",
    "UMD-domain-adaptation-online",
    "UMD-reinforce",
    "UMD-reinforce2",
    *(f"OFFLINE-{method.upper()}" for method in Method),
    *(f"OFFLINE-SMT-{method.upper()}" for method in Method),
    *ARMS,
    "ADAPT-none",
    "ADAPT-memory",
    "ADAPT-full",
    "ADAPT-bias",
    "ADAPT-top",
    "ADAPT-fixed",
    "ADAPT-lasso",
    "BNMT-ADAPT-full-information",
    "SMT-BG",
    "SMT-ADAPTING",
    "SMT-FG-FAIR",
    "SMT-FG-UNFAIR",
    "SMT-ADAPT-full-information",
    "CONTEXT-static",
    "CONTEXT-concat",
    "CONTEXT-s-hier-to-2.tied",
    "CONTEXT-cadec",
    "CONTEXT-concat-sampling",
    "CONTEXT-concat-EL-VALUE",
    "CONTEXT-cadec-sampling",
    "CONTEXT-cadec-EL-VALUE",
]
SAMPLERS = {
    *("WNMT-EL", "BNMT-EL", "BNMT-EL-CV", "BNMT-EL-VALUE", "BNMT-IMPUTE", "UMD-reinforce", "UMD-reinforce2"),
    *("SMT-EL-CV-ADADELTA", "SMT-EL-CV-ADAM", "SMT-EL-WORDS", "LIMSI-UCB1-SAMPLING"),
    *("WNMT-sampling", "BNMT-sampling", "BNMT-sampling-T1", "SMT-sampling", "SMT-k-best-sampling"),
}
SLOW_STARTERS = {
    "UMD-domain-adaptation-online",
    "SMT-EL-WORDS",
    "SMT-full-information",
    "CONTEXT-cadec-EL-VALUE",  # these rounds have no documents
}  # learns only where words have more than one translation
SOURCES = [source for source, _ in tiny.ROUNDS[:6]]
POST_EDITS = dict(tiny.ROUNDS)


def play(learner):
    proposed = []
    for source in SOURCES:
        proposed.append(propose(learner, source))
        learn(learner, source, proposed[-1], 1 / (1 + len(proposed[-1])))
    return proposed


def learn(learner, source, translation, reward):
    """Let a learner learn from a round of a phase that shows post-edits; most learners do not look at them."""
    learner.update(Sentence(source), translation, Feedback(reward, POST_EDITS[source]))


def test_all_systems_are_registered_under_their_published_names():
    assert list(SYSTEMS) == NAMES


def test_the_leaderboard_knows_oracles_and_baselines_by_their_names():
    kinds = {name: default_role(HOUSE_PARTICIPANT, name).kind for name in SYSTEMS}
    assert {name: kind for name, kind in kinds.items() if kind is not RoleKind.CONTESTANT} == ROLES
    for family in {system.family for system in SYSTEMS.values() if system.family}:
        roles = {
            family.static: RoleKind.BASELINE,
            family.oracle: RoleKind.ORACLE,
            family.k_best_oracle: RoleKind.K_BEST_ORACLE,
            family.full_information: RoleKind.FULL_INFORMATION,
            family.continued_training: RoleKind.CONTROL,
        }
        assert {name: kinds[name] for name in roles if name} == {name: kind for name, kind in roles.items() if name}
    for name, kind in kinds.items():
        assert SYSTEMS[name].learns == (kind in (RoleKind.CONTESTANT, RoleKind.FULL_INFORMATION)), name


def test_no_name_is_given_twice():
    assert sum(len(family.SYSTEMS) for family in FAMILIES) == len(SYSTEMS)


@pytest.mark.parametrize("name", NAMES)
def test_every_system_plays_and_the_same_seed_plays_the_same(name, store):
    system = find_system(name)
    proposed = play(system.new_learner(store, 1, "dev"))
    assert all(text.strip() for text in proposed)
    assert play(system.new_learner(store, 1, "dev")) == proposed
    if not system.stochastic:
        assert play(system.new_learner(store, 2, "dev")) == proposed


@pytest.mark.parametrize("name", NAMES)
def test_systems_that_sample_log_a_probability_and_no_others(name, store):
    learner, proposals = find_system(name).new_learner(store, 1, "dev"), []
    for source in SOURCES[:4]:
        proposals.append(learner.propose(Sentence(source)))
        learn(learner, source, as_proposal(proposals[-1]).translation, 0.5)
    assert isinstance(proposals[-1], Proposal) == (name in SAMPLERS)
    if name in SAMPLERS:
        logged = [one.log_probability for one in map(as_proposal, proposals) if one.log_probability is not None]
        assert logged
        assert all(map(is_log_probability, logged))


def learned_parameters(learner):
    """Return what a learner changes: its parameters, its offsets, its regression or its memory."""
    snapshot = learner.save()
    for name in ("vector", "regression/moment", "linear/mean"):
        if name in snapshot.arrays:
            return snapshot.arrays[name].tolist()
    return snapshot.values


@pytest.mark.parametrize("name", NAMES)
def test_learners_change_a_copy_of_their_seed_model_and_static_systems_save_nothing(name, store):
    learner = find_system(name).new_learner(store, 1, "dev")
    play(learner)
    play(learner)
    if isinstance(learner, StaticSystem):
        assert learner.save() == Snapshot()
    elif isinstance(learner, SamplingControl | KBestOracle | UnfairSmt | ContextPlayer):
        assert not learner.save().arrays
    elif name not in SLOW_STARTERS:
        new = find_system(name).new_learner(store, 1, "dev")
        assert (learned_parameters(learner) != learned_parameters(new)) == find_system(name).learns


def test_every_learner_has_a_control_with_the_same_search_that_does_not_learn():
    controls = {name: system.control for name, system in SYSTEMS.items() if system.learns}
    assert controls == {
        "WNMT-EL": "WNMT-sampling",
        "BNMT-full-information": "BNMT-static",
        "BNMT-EL": "BNMT-sampling-T1",
        "BNMT-EL-CV": "BNMT-sampling-T1",
        "BNMT-SZO-CV": "BNMT-perturbed",
        "BNMT-EL-VALUE": "BNMT-sampling",
        "BNMT-IMPUTE": "BNMT-sampling",
        "BNMT-REPLAY": "BNMT-static",
        "SMT-full-information": "SMT-static",
        "SMT-EL-CV-ADADELTA": "SMT-sampling",
        "SMT-EL-CV-ADAM": "SMT-sampling",
        "SMT-SZO-CV-ADAM": "SMT-perturbed",
        "SMT-EL-WORDS": "SMT-k-best-sampling",
        "SMT-SPLIT-full-information": "SMT-SPLIT-static",
        "SMT-LINEAR": "SMT-SPLIT-static",
        "SMT-IMPUTE": "SMT-SPLIT-static",
        "CHAMPION": "SMT-SPLIT-static",
        "LIMSI-UCB1": "SMT-static",
        "LIMSI-UCB1-SAMPLING": "SMT-static",
        "LIMSI-UCB1-SELECT": "SMT-static",
        "UMD-domain-adaptation": "BNMT-control",
        "UMD-domain-adaptation-online": "BNMT-static",
        "UMD-reinforce": "BNMT-sampling-T1",
        "UMD-reinforce2": "BNMT-sampling-T1",
        **{f"OFFLINE-{method.upper()}": "BNMT-static" for method in Method},
        **{f"OFFLINE-SMT-{method.upper()}": "SMT-static" for method in Method},
        **dict.fromkeys(ARMS, "SMT-static"),
        "ADAPT-memory": "ADAPT-none",
        "ADAPT-full": "ADAPT-none",
        "ADAPT-bias": "ADAPT-none",
        "ADAPT-top": "ADAPT-none",
        "ADAPT-fixed": "ADAPT-none",
        "ADAPT-lasso": "ADAPT-none",
        "BNMT-ADAPT-full-information": "BNMT-static",
        "SMT-ADAPTING": "SMT-BG",
        "SMT-FG-FAIR": "SMT-BG",
        "SMT-ADAPT-full-information": "SMT-BG",
        "CONTEXT-concat-EL-VALUE": "CONTEXT-concat-sampling",
        "CONTEXT-cadec-EL-VALUE": "CONTEXT-cadec-sampling",
    }
    for control in controls.values():
        assert control is not None
        assert not find_system(control).learns
        assert not find_system(control).needs_references


NEED_REFERENCES = ("oracle", "k_best_oracle", "full_information", "post_edits")


def test_the_systems_that_a_family_is_compared_with_belong_to_it():
    families = {system.family for system in SYSTEMS.values() if system.family}
    assert {family.name for family in families} == {"WNMT", "BNMT", "SMT", "SMT-SPLIT", "ADAPT", "CONTEXT"}
    for family in families:
        compared = asdict(family)
        del compared["name"]
        for role, name in compared.items():
            if name is not None:
                assert find_system(name).family == family
                assert find_system(name).needs_references == (role in NEED_REFERENCES)


@pytest.mark.parametrize("name", ["SMT-k-best-oracle", "BNMT-full-information"])
@pytest.mark.parametrize("phase", ["training", None])
def test_an_oracle_without_references_of_its_phase_says_so(name, phase, store):
    complaint = f"{name} needs the references of the phase that it plays: there are those of dev, not of {phase}"
    with pytest.raises(ReferencesError, match=complaint):
        find_system(name).new_learner(store, 1, phase)


def config_of(name):
    system = find_system(name)
    assert isinstance(system, BanditSystem)
    return system.config


@pytest.mark.parametrize(("name", "method"), [("WNMT-EL", OptimiserMethod.SGD), ("BNMT-EL", OptimiserMethod.ADAM)])
def test_the_published_learners_are_set_as_published(name, method):
    config = config_of(name)
    assert isinstance(config, ExpectedLossConfig)
    assert (config.optimiser.method, config.optimiser.learning_rate) == (method, 1e-5)
    assert (config.schedule.temperature, config.schedule.start, config.dropout) == (1.0, 700_000, 0.5)
    assert (config.optimiser.clip_norm, config.optimiser.betas, config.batch) == (1.0, (0.9, 0.999), 1)
    assert config.safeguards == SafeguardConfig()  # none
    assert config_of("BNMT-EL-CV") == config_of("BNMT-EL")


@pytest.mark.parametrize("name", ["BNMT-EL-VALUE", "BNMT-REPLAY"])
def test_our_own_learners_imitate_no_loops_and_keep_the_length_of_their_outputs(name):
    config = config_of(name)
    assert isinstance(config, ExpectedLossConfig | SelfImitationConfig)
    assert config.safeguards.exclude_loops
    assert config.safeguards.min_length_ratio is not None
    assert config.safeguards.max_length_ratio is not None


@pytest.mark.parametrize(
    ("name", "variate"),
    [
        ("WNMT-EL", {"kind": "NoControlVariate"}),
        ("BNMT-EL", {"kind": "NoControlVariate"}),
        ("BNMT-EL-CV", {"kind": "RunningMean", "include_current": True}),  # the mean includes the current reward
        ("BNMT-SZO-CV", {"kind": "RunningMean", "include_current": True}),
        ("SMT-EL-CV-ADADELTA", {"kind": "RunningMean", "include_current": True}),
        ("SMT-EL-CV-ADAM", {"kind": "RunningMean", "include_current": True}),
        ("SMT-SZO-CV-ADAM", {"kind": "RunningMean", "include_current": True}),
    ],
)
def test_the_published_learners_have_the_published_control_variates(name, variate, store):
    learner = find_system(name).new_learner(store, 1, "dev")
    assert isinstance(learner, GradientLearner)
    assert learner._control_variate.identity() == variate


@pytest.mark.parametrize(
    ("name", "beam"),
    [("BNMT-static", 1), ("BNMT-control", 1), ("BNMT-oracle", 1), ("BNMT-beam", 12), ("WMT16-static", 12)],
)
def test_some_static_systems_search_with_a_beam(name, beam, store):
    learner = find_system(name).new_learner(store, 1, "dev")
    assert isinstance(learner, StaticTranslator)
    assert learner._beam == beam


@pytest.mark.parametrize(("pretrained_with", "learns_with"), [(0.2, 0.5), (0.0, 0.0)])
def test_the_published_dropout_is_for_models_that_were_pretrained_with_dropout(pretrained_with, learns_with):
    translator = tiny_translator(replace(TINY, dropout=pretrained_with))
    store = Mock(ModelStore, load=lambda _model: translator)
    for name in ("WNMT-EL", "BNMT-EL", "BNMT-EL-CV"):
        learner = find_system(name).new_learner(store, 1, "dev")
        assert isinstance(learner, ExpectedLossLearner)
        assert learner._config.dropout == learns_with


def test_a_learner_is_identified_by_its_system_its_seed_and_its_models(store):
    bnmt = store.digest(BNMT)
    assert find_system("BNMT-EL").identity(store, 3) == {"system": "BNMT-EL", "seed": 3, "model bnmt": bnmt}
    assert find_system("copy-source").identity(store, 3) == {"system": "copy-source", "seed": 1}  # nothing is random


@pytest.mark.parametrize("name", ["copy-source", "word-for-word"])
@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_source_gets_a_placeholder(name, source, store):
    assert propose(find_system(name).new_learner(store, 1, "dev"), source) == PLACEHOLDER


def test_the_word_model_replaces_unknown_words(store):
    text = propose(find_system("WNMT-EL").new_learner(store, 1), "rot xk-77 seil")
    assert "<unk>" not in text


def test_the_error_of_an_unknown_system_lists_all_names():
    with pytest.raises(UnknownSystemError, match="there is no system 'BNMT'; there are copy-source, word-for-word"):
        find_system("BNMT")


def test_systems_that_learn_from_post_edits_say_so():
    needing = {name for name, system in SYSTEMS.items() if system.needs_post_edits}
    networks = {name for name in NAMES if name.startswith("ADAPT-")} - {"ADAPT-none"}
    assert needing == networks | {"SMT-ADAPTING", "SMT-FG-FAIR"}


def test_adaptation_is_set_as_published():
    """Simianer et al. 2019, section 5.1."""
    for name, rate in (("full", 0.01), ("top", 0.01), ("fixed", 0.01), ("lasso", 0.01), ("bias", 1.0)):
        system = find_system(f"ADAPT-{name}")
        assert isinstance(system, PostEditSystem)
        config = system.config
        assert (config.learning_rate, config.max_updates, config.target_perplexity) == (rate, 3, 2.0)
        assert (config.max_norm, config.normalise) == (1.0, False)
