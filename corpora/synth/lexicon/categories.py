"""The rules of a category's file: what each section's lines add to the category."""

from collections.abc import Mapping

from corpora.synth.lexicon import notation
from corpora.synth.lexicon.entries import (
    Accessory,
    Attribute,
    Category,
    Feature,
    Material,
    Modifier,
    Part,
    Phrase,
    Scope,
    Unit,
)
from corpora.synth.lexicon.notation import THREE, TWO, WORD, Line, NotationError, Rule

LIMITS = frozenset({"only", "except"})


class CategoryRules:
    """Fills one category, line by line."""

    def __init__(self, category: Category, units: Mapping[str, Unit]) -> None:
        self._category = category
        self._units = units

    def by_section(self) -> dict[str, Rule]:
        category = self._category
        return {
            "category": self._name,
            "heads": lambda text: category.heads.append(notation.noun_of(notation.cut(text, TWO, WORD))),
            "modifiers": self._modifier,
            "materials": self._material,
            "features": self._feature,
            "parts": self._part,
            "attributes": self._attribute,
            "uses": lambda text: self._phrase(text, category.uses),
            "accessories": self._accessory,
            "actions": self._action,
            "lines": lambda text: self._phrase(text, category.lines),
        }

    def _scope(self, line: Line) -> Scope:
        unknown = (line.scope.only | line.scope.excluded) - {head.lemma for head in self._category.heads}
        if unknown:
            raise NotationError(f"no such head: {', '.join(sorted(unknown))}")
        return line.scope

    def _name(self, text: str) -> None:
        identifier, self._category.german, self._category.english = notation.cut(text, THREE, frozenset()).columns
        if identifier != self._category.identifier:
            raise NotationError(f"category {identifier!r} in the file of {self._category.identifier!r}")

    def _modifier(self, text: str) -> None:
        line = notation.cut(text, TWO, WORD | LIMITS)
        joint, english = line.columns
        self._category.modifiers.append(Modifier(joint, notation.text(english), self._scope(line)))

    def _material(self, text: str) -> None:
        line = notation.cut(text, TWO, WORD | LIMITS)
        self._category.materials.append(Material(notation.noun_of(line), self._scope(line)))

    def _feature(self, text: str) -> None:
        line = notation.cut(text, TWO, WORD | LIMITS)
        german, english = line.columns
        self._category.features.append(Feature(notation.adjective(german, english), self._scope(line)))

    def _part(self, text: str) -> None:
        line = notation.cut(text, range(2, 4), WORD | LIMITS | {"plural"})
        pairs = [pair.partition("=")[::2] for pair in line.columns[2].split(",")] if line.columns[2:] else []
        if not all(german.strip() and english.strip() for german, english in pairs):
            raise NotationError("adjectives are written german=english, german=english")
        adjectives = tuple(notation.adjective(german.strip(), english.strip()) for german, english in pairs)
        part = Part(notation.noun_of(line), adjectives, "plural" in line.options, self._scope(line))
        self._category.parts.append(part)

    def _attribute(self, text: str) -> None:
        line = notation.cut(text, THREE, WORD | LIMITS)
        values = notation.values(line.columns[2])
        if values.unit and values.unit not in self._units:
            raise NotationError(f"unit {values.unit!r} is not in units.txt")
        self._category.attributes.append(Attribute(notation.noun_of(line), values, self._scope(line)))

    def _accessory(self, text: str) -> None:
        line = notation.cut(text, TWO, WORD | LIMITS)
        self._category.accessories.append(Accessory(notation.noun_of(line), self._scope(line)))

    def _phrase(self, text: str, entries: list[Phrase]) -> None:
        line = notation.cut(text, TWO, LIMITS)
        german, english = line.columns
        entries.append(notation.phrase(german, english, self._scope(line)))

    def _action(self, text: str) -> None:
        line = notation.cut(text, THREE, LIMITS)
        verb, rest, english = line.columns
        self._category.actions.append(notation.action(verb, rest, english, self._scope(line)))
