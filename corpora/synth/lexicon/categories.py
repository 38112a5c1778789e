"""The rules for a category's file: what a line of each section adds to the category."""

from collections.abc import Mapping

from corpora.synth.lexicon import notation
from corpora.synth.lexicon.entries import (
    Accessory,
    Attribute,
    Category,
    Feature,
    Material,
    MeasurementUnit,
    Modifier,
    Part,
    Phrase,
    Scope,
)
from corpora.synth.lexicon.notation import (
    NOUN_OPTIONS,
    THREE_COLUMNS,
    TWO_COLUMNS,
    NotationError,
    ParsedLine,
    SectionRule,
)

SCOPE_OPTIONS = frozenset({"only", "except"})


class CategoryRules:
    """Parses the lines of one category's file and adds them to the category."""

    def __init__(self, category: Category, units: Mapping[str, MeasurementUnit]) -> None:
        self._category = category
        self._units = units

    def by_section(self) -> dict[str, SectionRule]:
        """Return the function that adds a line to the category, for each section."""
        category = self._category
        return {
            "category": self._set_name,
            "heads": self._add_head,
            "modifiers": self._add_modifier,
            "materials": self._add_material,
            "features": self._add_feature,
            "parts": self._add_part,
            "attributes": self._add_attribute,
            "uses": lambda text: self._add_phrase(text, category.uses),
            "accessories": self._add_accessory,
            "actions": self._add_action,
            "lines": lambda text: self._add_phrase(text, category.lines),
        }

    def _scope(self, line: ParsedLine) -> Scope:
        unknown = (line.scope.only | line.scope.excluded) - {head.lemma for head in self._category.heads}
        if unknown:
            raise NotationError(f"[heads] does not list {', '.join(sorted(unknown))}")
        return line.scope

    def _set_name(self, text: str) -> None:
        columns = notation.parse_line(text, THREE_COLUMNS, frozenset()).columns
        identifier, self._category.german, self._category.english = columns
        if identifier != self._category.identifier:
            raise NotationError(f"names the category {identifier!r} in the file of {self._category.identifier!r}")

    def _add_head(self, text: str) -> None:
        self._category.heads.append(notation.noun_from_line(notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS)))

    def _add_modifier(self, text: str) -> None:
        line = notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS | SCOPE_OPTIONS)
        combining_form, english = line.columns
        self._category.modifiers.append(Modifier(combining_form, notation.tokenised_text(english), self._scope(line)))

    def _add_material(self, text: str) -> None:
        line = notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS | SCOPE_OPTIONS)
        self._category.materials.append(Material(notation.noun_from_line(line), self._scope(line)))

    def _add_feature(self, text: str) -> None:
        line = notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS | SCOPE_OPTIONS)
        german, english = line.columns
        self._category.features.append(Feature(notation.parse_adjective(german, english), self._scope(line)))

    def _add_part(self, text: str) -> None:
        line = notation.parse_line(text, range(2, 4), NOUN_OPTIONS | SCOPE_OPTIONS | {"plural"})
        pairs = [pair.partition("=")[::2] for pair in line.columns[2].split(",")] if line.columns[2:] else []
        if not all(german.strip() and english.strip() for german, english in pairs):
            raise NotationError("adjectives should be german=english, german=english")
        adjectives = tuple(notation.parse_adjective(german.strip(), english.strip()) for german, english in pairs)
        part = Part(notation.noun_from_line(line), adjectives, "plural" in line.options, self._scope(line))
        self._category.parts.append(part)

    def _add_attribute(self, text: str) -> None:
        line = notation.parse_line(text, THREE_COLUMNS, NOUN_OPTIONS | SCOPE_OPTIONS)
        values = notation.parse_values(line.columns[2])
        if values.unit and values.unit not in self._units:
            raise NotationError(f"units.txt does not list the unit {values.unit!r}")
        self._category.attributes.append(Attribute(notation.noun_from_line(line), values, self._scope(line)))

    def _add_accessory(self, text: str) -> None:
        line = notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS | SCOPE_OPTIONS)
        self._category.accessories.append(Accessory(notation.noun_from_line(line), self._scope(line)))

    def _add_phrase(self, text: str, entries: list[Phrase]) -> None:
        line = notation.parse_line(text, TWO_COLUMNS, SCOPE_OPTIONS)
        german, english = line.columns
        entries.append(notation.parse_phrase(german, english, self._scope(line)))

    def _add_action(self, text: str) -> None:
        line = notation.parse_line(text, THREE_COLUMNS, SCOPE_OPTIONS)
        verb, rest, english = line.columns
        self._category.actions.append(notation.parse_action(verb, rest, english, self._scope(line)))
