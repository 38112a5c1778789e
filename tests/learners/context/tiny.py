"""Tiny context-aware translators and a few dialogues, for tests."""

from dataclasses import replace
from functools import cache
from itertools import groupby

from corpora.dialogue.generator import DialogueGenerator
from learners.context.concatenation import ConcatTranslator, SentenceTranslator
from learners.context.examples import Example, windows
from learners.context.hierarchical import HierarchicalTranslator
from learners.context.two_pass import DraftConfig, TwoPassTranslator
from learners.nmt.vocabulary import SubwordVocabulary
from learners.seed_models.contextual import CONTEXT_NETWORKS
from learners.seed_models.settings import Size

CONFIG = replace(CONTEXT_NETWORKS[Size.TINY], dropout=0.0)


@cache
def documents():
    """Documents of dialogues, as pairs."""
    lines = DialogueGenerator(1).in_domain_documents("dev", 150)
    return [[(source, target) for source, target, _ in group] for _, group in groupby(lines, key=lambda line: line[2])]


@cache
def vocabulary(separator=False):
    texts = [text for document in documents() for pair in document for text in pair]
    return SubwordVocabulary.learn(texts, CONFIG.vocabulary_size, separator=separator)


def sentence(seed=1):
    return SentenceTranslator.new(CONFIG, vocabulary(), seed=seed)


def concat(seed=1):
    return ConcatTranslator.new(CONFIG, vocabulary(separator=True), seed=seed)


def hierarchical(seed=1):
    return HierarchicalTranslator.new(CONFIG, vocabulary(separator=True), seed=seed)


def two_pass(seed=1, **drafts):
    return TwoPassTranslator.new(sentence(), DraftConfig(**drafts), seed=seed)


KINDS = {"sentence": sentence, "concat": concat, "s-hier-to-2.tied": hierarchical, "cadec": two_pass}


def examples(count=6) -> list[Example]:
    return windows(documents())[:count]
