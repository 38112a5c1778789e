"""Balanced contrastive sets: four kinds, with the line that decides 1 to 3 lines before the last.

Every candidate is the true one in exactly one group of a family, whose groups have the same last line. So a system that
ignores the context gets a known share of the groups right, whatever its preferences: one of each family. The words that
are tested are held out: the text has them, but not in lines that depend on context.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from corpora.dialogue import lines
from corpora.dialogue.conversation import Vocabulary
from corpora.dialogue.lexicon import DialogueLexicon
from corpora.dialogue.lines import Line
from corpora.synth import german_morphology as german
from corpora.synth.random_stream import RandomStream

SEPARATOR = " _eos "  # between the sentences of a group, as published
WINDOW = 4  # lines of a group
VERB_CANDIDATES = 5
SIZES = {  # groups at least, as published (Voita et al. 2019, Table 5 and section 6)
    "deixis_dev": 500,
    "deixis_test": 2_500,
    "lex_cohesion_dev": 500,
    "lex_cohesion_test": 1_500,
    "ellipsis_infl": 500,
    "ellipsis_vp": 500,
}

Pair = tuple[str, str]  # English and German


class Case(NamedTuple):
    """A context that decides, and which candidate it decides for."""

    antecedent: Pair
    true: str


@dataclass(frozen=True, slots=True)
class Family:
    """Groups with the same last line and candidates; each candidate is true in one of them."""

    source: str  # the last line
    candidates: tuple[str, ...]
    cases: tuple[Case, ...]

    @property
    def is_balanced(self) -> bool:
        return len(set(self.candidates)) > 1 and sorted(self.candidates) == sorted(case.true for case in self.cases)


def contrastive_sets(seed: int, words: DialogueLexicon, vocabulary: Vocabulary) -> dict[str, list[dict[str, Any]]]:
    """Return all sets by name, as groups in the published format. No source is in two sets."""
    makers: dict[str, Callable[[RandomStream, DialogueLexicon, Vocabulary], Family]] = {
        "deixis": _deixis_family,
        "lex_cohesion": _cohesion_family,
        "ellipsis_infl": _inflection_family,
        "ellipsis_vp": _verb_family,
    }
    seen: set[str] = set()
    sets = {}
    for name, size in SIZES.items():
        make = makers[name.removesuffix("_dev").removesuffix("_test")]
        rng = RandomStream(seed, "contrastive", name)
        sets[name] = list(_groups(rng, words, vocabulary, make, size, seen))
    return sets


def _groups(
    rng: RandomStream,
    words: DialogueLexicon,
    vocabulary: Vocabulary,
    make: Callable[[RandomStream, DialogueLexicon, Vocabulary], Family],
    size: int,
    seen: set[str],
) -> Iterator[dict[str, Any]]:
    """Yield whole families until there are this many groups; distances take turns."""
    made, number = 0, 0
    while made < size:
        family = make(rng, words, vocabulary)
        distance = number % (WINDOW - 1) + 1
        groups = list(_family_groups(rng, words, family, distance)) if family.is_balanced else []
        sources = {group["src"] for group in groups}
        if not groups or not seen.isdisjoint(sources):
            continue
        seen |= sources
        made += len(groups)
        number += 1
        yield from groups


def _family_groups(
    rng: RandomStream, words: DialogueLexicon, family: Family, distance: int
) -> Iterator[dict[str, Any]]:
    """Put each case of a family into the same neutral lines."""
    context: list[Pair] = []
    while len(context) < WINDOW - 1:
        line = rng.choice(words.fillers)
        if line not in context:
            context.append(line)
    for case in family.cases:
        context[-distance] = case.antecedent
        candidates = list(family.candidates)
        shift = rng.below(len(candidates))  # the true candidate is at any place
        candidates = candidates[shift:] + candidates[:shift]
        yield {
            "src": SEPARATOR.join([*(english for english, _ in context), family.source]),
            "dst": [SEPARATOR.join([*(text for _, text in context), candidate]) for candidate in candidates],
            "true_ind": candidates.index(case.true),
            "ctx_dist": distance,
        }


def _deixis_family(rng: RandomStream, words: DialogueLexicon, vocabulary: Vocabulary) -> Family:
    """Two lines that address the listener, both to a friend or both to a stranger."""
    first = lines.address(rng, vocabulary.everywhere, vocabulary.classes)
    last = lines.address_object(rng, words, vocabulary.classes)
    return Family(
        last.english,
        (last.familiar, last.polite),
        (Case((first.english, first.familiar), last.familiar), Case((first.english, first.polite), last.polite)),
    )


def _cohesion_family(rng: RandomStream, words: DialogueLexicon, _vocabulary: Vocabulary) -> Family:
    """Two lines with the same name, rendered in the same way."""
    name = lines.random_name(rng, words)
    first = rng.choice(lines.mentions_of(name))
    last = rng.choice([frame for frame in lines.mentions_of(name) if frame is not first])
    made = [
        (lines.mention(name, number, first), lines.mention(name, number, last))
        for number in range(len(name.renderings))
    ]
    return _family(made)


def _inflection_family(rng: RandomStream, words: DialogueLexicon, vocabulary: Vocabulary) -> Family:
    """A person in some case, and another one without a verb, in the same case."""
    pattern, noun = lines.noun_phrase_pattern(rng), rng.choice(words.nouns["person"])
    phrase = lines.random_phrase(rng, noun)
    other = rng.choice([each for each in vocabulary.everywhere.nouns["person"] if each is not noun])
    # The nominative of other genders is their accusative: it would not tell the two apart.
    cases: tuple[german.Case, ...] = ("nom", "acc", "dat") if noun.gender == "m" else ("acc", "dat")
    return _family(
        [
            (
                lines.antecedent_of_case(rng, vocabulary.everywhere, case, other),
                lines.noun_phrase_ellipsis(pattern, phrase, case),
            )
            for case in cases
        ]
    )


def _verb_family(rng: RandomStream, words: DialogueLexicon, vocabulary: Vocabulary) -> Family:
    """A line with a verb, and a reply that leaves it out; the verb of the first family member is held out."""
    pattern, subject = lines.verb_phrase_pattern(rng), rng.choice(lines.SUBJECTS)
    held_out, phrase = lines.random_object(rng, words, vocabulary.classes)
    noun_class = next(
        name for name, nouns in vocabulary.everywhere.nouns.items() if any(noun is phrase.noun for noun in nouns)
    )
    others = [each for each in words.verbs_for(noun_class, held_out.case) if each is not held_out]
    others += [each for each in vocabulary.everywhere.verbs_for(noun_class, held_out.case) if each not in words.verbs]
    verbs = [held_out]
    while others and len(verbs) < VERB_CANDIDATES:
        chosen = others.pop(rng.below(min(len(others), 6)))  # held-out verbs stand first
        if chosen.verb.english.base != held_out.verb.english.base:
            verbs.append(chosen)
    return _family([lines.verb_phrase_ellipsis(pattern, subject, verb, phrase) for verb in verbs])


def _family(made: list[tuple[Line, Line]]) -> Family:
    """Return the family of antecedents and their replies, which have the same English."""
    return Family(
        made[0][1].english,
        tuple(reply.familiar for _, reply in made),
        tuple(Case((antecedent.english, antecedent.familiar), reply.familiar) for antecedent, reply in made),
    )
