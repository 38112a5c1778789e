"""Reads the files of the lexicon into one ``GeneratorLexicon`` and collects the mistakes in them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from corpora.synth.lexicon import notation
from corpora.synth.lexicon.categories import CategoryRules
from corpora.synth.lexicon.entries import (
    Accessory,
    Attribute,
    Category,
    Feature,
    GeneratorLexicon,
    Handling,
    Material,
    MeasurementUnit,
    NewsAdjective,
    NewsNoun,
    Noun,
    Part,
    Phrase,
    SenseShift,
    Topic,
    VerbFrame,
)
from corpora.synth.lexicon.notation import (
    FOUR_COLUMNS,
    NOUN_OPTIONS,
    ONE_COLUMN,
    THREE_COLUMNS,
    TWO_COLUMNS,
    NotationError,
    ParsedLine,
    SectionRule,
)

T = TypeVar("T")

LEXICON_DIRECTORY = Path(__file__).parent
NOUN_CLASSES = frozenset({"person", "org", "plan", "event", "matter", "amount", "place", "thing", "weather"})
SHOP_ROLES = frozenset({"head", "part", "accessory", "attribute", "material"})

VALENCY_OPTIONS = frozenset({"subj", "obj", "dat", "prep", "pobj", "that", "zu"})


class LexiconReader:
    """Reads the files once; ``mistakes`` has ``file:line: reason`` of every line that breaks a rule."""

    def __init__(self, directory: Path = LEXICON_DIRECTORY) -> None:
        self.directory = directory
        self.lexicon = GeneratorLexicon()
        self.mistakes: list[str] = []
        self._categories: dict[str, Category] = {}
        self._topics: dict[str, Topic] = {}

    def read(self) -> GeneratorLexicon:
        """Return the lexicon without the lines that have mistakes."""
        lists = {"colors": self._add_color, "brands": self._add_brand, "units": self._add_unit}
        for name, rule in lists.items():
            self._read_file(self.directory / f"{name}.txt", {name: rule})
        for path in sorted((self.directory / "shop").glob("*.txt")):
            self._read_category(path)
        for path in sorted((self.directory / "news").glob("*.txt")):
            self._read_topic(path)
        shifts = {
            "nouns": self._add_shifted_noun,
            "adjectives": self._add_shifted_adjective,
            "verbs": self._add_shifted_verb,
        }
        self._read_file(self.directory / "shifts.txt", shifts)
        return self.lexicon

    def _read_file(self, path: Path, rules: Mapping[str, SectionRule]) -> None:
        for number, section, text in _entries(path):
            where = f"{path.relative_to(self.directory)}:{number}"
            if section not in rules:
                self.mistakes.append(f"{where}: unknown section [{section}]")
                continue
            try:
                rules[section](text)
            except NotationError as error:
                self.mistakes.append(f"{where}: {error}")

    # ------------------------------------------------------------------ lists

    def _add_color(self, text: str) -> None:
        line = notation.parse_line(text, TWO_COLUMNS, frozenset())
        self.lexicon.colors.append(notation.parse_adjective(*line.columns))

    def _add_brand(self, text: str) -> None:
        self.lexicon.brands.append(notation.tokenised_text(text.lower()))

    def _add_unit(self, text: str) -> None:
        german, english, english_long, german_long = map(
            notation.tokenised_text, notation.parse_line(text, FOUR_COLUMNS, frozenset()).columns
        )
        known = dict(self.lexicon.units)
        known[german] = MeasurementUnit(german, english, english_long.strip("-"), german_long.strip("-"))
        self.lexicon.units = known

    # ------------------------------------------------------------------ shop

    def _read_category(self, path: Path) -> None:
        category = Category(path.stem, "", "")
        self._categories[path.stem] = category
        self.lexicon.categories.append(category)

        rules = CategoryRules(category, self.lexicon.units).by_section()
        self._read_file(path, rules)
        self._check_sections(path, category)

    def _check_sections(self, path: Path, category: Category) -> None:
        if not category.german:
            self.mistakes.append(f"{path.relative_to(self.directory)}:1: has no line in [category]")
        for section in ("heads", "modifiers", "materials", "features", "parts", "attributes", "uses", "actions"):
            if not getattr(category, section):
                self.mistakes.append(f"{path.relative_to(self.directory)}:1: has no line in [{section}]")

    # ------------------------------------------------------------------ news

    def _read_topic(self, path: Path) -> None:
        general = self.lexicon.general
        topic = general if path.stem == "general" else Topic(path.stem, "", "")
        if topic is not general:
            self._topics[path.stem] = topic
            self.lexicon.topics.append(topic)

        def name(text: str) -> None:
            identifier, topic.german, topic.english = notation.parse_line(text, THREE_COLUMNS, frozenset()).columns
            if identifier != path.stem:
                raise NotationError(f"names the topic {identifier!r}, but the file is {path.name}")

        def noun(text: str) -> None:
            line = notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS | {"class", "in"})
            topic.nouns.append(_news_noun(notation.noun_from_line(line), line))

        def adjective(text: str) -> None:
            line = notation.parse_line(text, TWO_COLUMNS, frozenset({"of", "attributive"}))
            word, classes = notation.parse_adjective(*line.columns), _classes(line, "of")
            topic.adjectives.append(NewsAdjective(word, classes, "attributive" not in line.options))

        def verb(text: str) -> None:
            topic.frames.append(_frame(notation.parse_line(text, TWO_COLUMNS, VALENCY_OPTIONS)))

        rules = {"nouns": noun, "adjectives": adjective, "verbs": verb}
        self._read_file(path, rules | (self._general_rules() if topic is general else {"topic": name}))

    def _general_rules(self) -> dict[str, SectionRule]:
        general = self.lexicon.general

        def pair(entries: list[Phrase]) -> SectionRule:
            def rule(text: str) -> None:
                german, english = notation.parse_line(text, TWO_COLUMNS, frozenset()).columns
                entries.append(notation.parse_phrase(german, english))

            return rule

        def firstname(text: str) -> None:
            line = notation.parse_line(text, ONE_COLUMN, frozenset({"f", "m"}))
            if not line.options:
                raise NotationError("a first name needs the option f or m")
            general.firstnames.append((line.columns[0], "f" if "f" in line.options else "m"))

        return {
            "cities": pair(general.cities),
            "countries": pair(general.countries),
            "surnames": lambda text: general.surnames.append(notation.tokenised_text(text.lower())),
            "firstnames": firstname,
            "titles": lambda text: general.titles.append(
                notation.noun_from_line(notation.parse_line(text, TWO_COLUMNS, NOUN_OPTIONS))
            ),
            "times": pair(general.times),
            "adverbs": pair(general.adverbs),
            "openers": pair(general.openers),
            "people": pair(general.people),
        }

    # ------------------------------------------------------------------ shifts

    def _add_shifted_noun(self, text: str) -> None:
        line = notation.parse_line(
            text,
            THREE_COLUMNS,
            NOUN_OPTIONS | {"class", "topics", "role", "cats", "values", "in", "plural", "only", "except"},
        )
        german, news, shop = line.columns
        for_news = notation.parse_noun(german, news, line.options)
        for_shop = notation.parse_noun(german, shop, line.options)
        role = line.options.get("role", "")
        if role not in SHOP_ROLES:
            raise NotationError(f"role={role} should be one of {', '.join(sorted(SHOP_ROLES))}")
        entry = _news_noun(for_news, line)
        for topic in self._select(self._topics, line.option_values("topics")):
            topic.nouns.append(entry)
        for category in self._select(self._categories, line.option_values("cats")):
            if role == "head":
                category.heads.append(for_shop)
            elif role == "part":
                category.parts.append(Part(for_shop, (), "plural" in line.options, line.scope))
            elif role == "accessory":
                category.accessories.append(Accessory(for_shop, line.scope))
            elif role == "material":
                category.materials.append(Material(for_shop, line.scope))
            else:
                values = notation.parse_values(line.options.get("values", "").replace("_", " "))
                category.attributes.append(Attribute(for_shop, values, line.scope))
        self._add_shift(for_shop.lemma, news, shop)

    def _add_shifted_adjective(self, text: str) -> None:
        line = notation.parse_line(text, THREE_COLUMNS, frozenset({"of", "cats", "topics", "only", "except"}))
        german, news, shop = line.columns
        for_news, for_shop = notation.parse_adjective(german, news), notation.parse_adjective(german, shop)
        self.lexicon.general.adjectives.append(NewsAdjective(for_news, _classes(line, "of")))
        for category in self._select(self._categories, line.option_values("cats")):
            category.features.append(Feature(for_shop, line.scope))
        self._add_shift(for_shop.lemma, news, shop)

    def _add_shifted_verb(self, text: str) -> None:
        line = notation.parse_line(text, THREE_COLUMNS, VALENCY_OPTIONS | {"cats", "topics", "only", "except"})
        german, news, shop = line.columns
        frame = _frame(ParsedLine((german, news), line.options))
        named = line.option_values("topics")
        for topic in self._select(self._topics, named) if named else [self.lexicon.general]:
            topic.frames.append(frame)
        for category in self._select(self._categories, line.option_values("cats")):
            category.handlings.append(Handling(notation.parse_verb(german, shop), line.scope))
        self._add_shift(frame.verb.infinitive, news, shop)

    def _add_shift(self, german: str, news: str, shop: str) -> None:
        if news == shop:
            raise NotationError(f"{german!r} is translated as {news!r} in both domains")
        if any(known.german == german for known in self.lexicon.shifts):
            raise NotationError(f"{german!r} is listed twice")
        self.lexicon.shifts.append(SenseShift(german, news, shop))

    @staticmethod
    def _select(known: dict[str, T], names: tuple[str, ...]) -> list[T]:
        if names == ("*",):
            return list(known.values())
        if not names:
            raise NotationError("topics= and cats= must name files, or *")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise NotationError(f"there is no file of {', '.join(unknown)}")
        return [known[name] for name in names]


def _entries(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line number, section and text of every line that is neither empty nor a comment."""
    section = ""
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        text = raw.partition("#")[0].strip()
        if text.startswith("[") and text.endswith("]"):
            section = text[1:-1]
        elif text:
            yield number, section, text


def _classes(line: ParsedLine, key: str) -> tuple[str, ...]:
    names = line.option_values(key)
    unknown = sorted(set(names) - NOUN_CLASSES)
    if unknown or not names:
        raise NotationError(f"{key}={','.join(unknown)} should be some of {', '.join(sorted(NOUN_CLASSES))}")
    return names


def _news_noun(noun: Noun, line: ParsedLine) -> NewsNoun:
    return NewsNoun(noun, _classes(line, "class"), line.options.get("in", "in"))


def _frame(line: ParsedLine) -> VerbFrame:
    verb = notation.parse_verb(*line.columns[:2])
    subject = _classes(line, "subj")
    given = [key for key in ("obj", "dat", "prep", "that", "zu") if key in line.options]
    if len(given) > 1:
        raise NotationError(f"needs a line for each of {', '.join(given)}")
    if ("prep" in line.options) != ("pobj" in line.options):
        raise NotationError("prep= and pobj= go together")
    return VerbFrame(
        verb,
        subject,
        object=_classes(line, "obj") if "obj" in line.options else (),
        dative=_classes(line, "dat") if "dat" in line.options else (),
        preposition=notation.parse_preposition(line.options["prep"]) if "prep" in line.options else None,
        prepositional_object=_classes(line, "pobj") if "pobj" in line.options else (),
        clause="that" if "that" in line.options else "zu" if "zu" in line.options else "",
    )
