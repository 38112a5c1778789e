"""A small task for tests: three phases whose references contain words that occur nowhere else."""

from dataclasses import replace

from lambdas.answers import Answer
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.task_loader import load_phase
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase

MOCK = Phase("mock", Layout.plain(5), repeatable=True)
DEV = Phase("dev", Layout(blocks=3, block=2, gap=4), repeatable=True)  # HHFFFFHHFFFFHH
TRAINING = Phase("training", Layout.plain(4), repeatable=False)
PHASES = (MOCK, DEV, TRAINING)
# The same with a mock phase that shows post-edits and has documents of two sentences.
POST_EDITED_MOCK = replace(MOCK, feedback=FeedbackSpec(kind=FeedbackKind.POST_EDIT), documents=True)
MIXED_PHASES = (POST_EDITED_MOCK, DEV, TRAINING)


def source(phase, number):
    return f"quelle {number} von {phase} mit rot und blau"


def reference(phase, number):
    return f"refword{number:04d} of {phase} with rot und blau secretref"


def pairs(phase):
    texts = [(source(phase.name, n), reference(phase.name, n)) for n in range(phase.layout.distinct)]
    return [(*text, f"document {n // 2}") for n, text in enumerate(texts)] if phase.documents else texts


def load(store, *, feedback=None, runs=None, phases=PHASES, block_size=3):
    """Load the task in blocks of three sentences, so that even these phases have several."""
    for phase in phases:
        chosen = replace(phase, feedback=feedback) if feedback else phase
        load_phase(store, chosen, pairs(phase), language="en", runs=runs, block_size=block_size)


def participant(store, service, name="acme"):
    """Register a participant and authenticate with its key."""
    return service.authenticate(Registry(store).add_participant(name))


def start_service(store, **options):
    """Load the task into a store; return a service and a participant."""
    load(store, **options)
    service = Service(store)
    return service, participant(store, service)


def play(service, player, run, *, rounds=None, translate=lambda sentence: sentence.source):
    """Play a run to its end, or some rounds of it, and return the answers."""
    answers: list[Answer] = []
    sentence = service.sentence(player, run)
    while sentence is not None and len(answers) != rounds:
        answers.append(service.translate(player, run, sentence.id, translate(sentence)))
        sentence = answers[-1].next
    return answers
