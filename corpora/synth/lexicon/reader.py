"""Reads the lexicon's files into one ``Lexicon``, and reports every line that breaks a rule."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from corpora.synth.lexicon import notation
from corpora.synth.lexicon.categories import CategoryRules
from corpora.synth.lexicon.entries import (
    Accessory,
    Attribute,
    Category,
    ClassedAdjective,
    ClassedNoun,
    Feature,
    Frame,
    Handling,
    Lexicon,
    Material,
    Noun,
    Part,
    Phrase,
    Shift,
    Topic,
    Unit,
)
from corpora.synth.lexicon.notation import FOUR, ONE, THREE, TWO, WORD, Line, NotationError, Rule

T = TypeVar("T")

HOME = Path(__file__).parent
CLASSES = frozenset({"person", "org", "plan", "event", "matter", "amount", "place", "thing", "weather"})
ROLES = frozenset({"head", "part", "accessory", "attribute", "material"})

VALENCY = frozenset({"subj", "obj", "dat", "prep", "pobj", "that", "zu"})


class Reader:
    """One pass over the files; ``mistakes`` collects ``file:line: reason``."""

    def __init__(self, home: Path = HOME) -> None:
        self.home = home
        self.lexicon = Lexicon()
        self.mistakes: list[str] = []
        self._categories: dict[str, Category] = {}
        self._topics: dict[str, Topic] = {}

    def read(self) -> Lexicon:
        lists = {"colors": self._color, "brands": self._brand, "units": self._unit}
        for name, rule in lists.items():
            self._file(self.home / f"{name}.txt", {name: rule})
        for path in sorted((self.home / "shop").glob("*.txt")):
            self._category_file(path)
        for path in sorted((self.home / "news").glob("*.txt")):
            self._topic_file(path)
        shifts = {"nouns": self._shifted_noun, "adjectives": self._shifted_adjective, "verbs": self._shifted_verb}
        self._file(self.home / "shifts.txt", shifts)
        return self.lexicon

    def _file(self, path: Path, rules: Mapping[str, Rule]) -> None:
        for number, section, text in _entries(path):
            where = f"{path.relative_to(self.home)}:{number}"
            if section not in rules:
                self.mistakes.append(f"{where}: unknown section [{section}]")
                continue
            try:
                rules[section](text)
            except NotationError as error:
                self.mistakes.append(f"{where}: {error}")

    # ------------------------------------------------------------------ lists

    def _color(self, text: str) -> None:
        line = notation.cut(text, TWO, frozenset())
        self.lexicon.colors.append(notation.adjective(*line.columns))

    def _brand(self, text: str) -> None:
        self.lexicon.brands.append(notation.text(text.lower()))

    def _unit(self, text: str) -> None:
        german, english, english_long, german_long = map(notation.text, notation.cut(text, FOUR, frozenset()).columns)
        known = dict(self.lexicon.units)
        known[german] = Unit(german, english, english_long.strip("-"), german_long.strip("-"))
        self.lexicon.units = known

    # ------------------------------------------------------------------ shop

    def _category_file(self, path: Path) -> None:
        category = Category(path.stem, "", "")
        self._categories[path.stem] = category
        self.lexicon.categories.append(category)

        rules = CategoryRules(category, self.lexicon.units).by_section()
        self._file(path, rules)
        self._complete(path, category)

    def _complete(self, path: Path, category: Category) -> None:
        if not category.german:
            self.mistakes.append(f"{path.relative_to(self.home)}:1: no [category] line")
        for section in ("heads", "modifiers", "materials", "features", "parts", "attributes", "uses", "actions"):
            if not getattr(category, section):
                self.mistakes.append(f"{path.relative_to(self.home)}:1: nothing in [{section}]")

    # ------------------------------------------------------------------ news

    def _topic_file(self, path: Path) -> None:
        general = self.lexicon.general
        topic = general if path.stem == "general" else Topic(path.stem, "", "")
        if topic is not general:
            self._topics[path.stem] = topic
            self.lexicon.topics.append(topic)

        def name(text: str) -> None:
            identifier, topic.german, topic.english = notation.cut(text, THREE, frozenset()).columns
            if identifier != path.stem:
                raise NotationError(f"topic {identifier!r} in {path.name}")

        def noun(text: str) -> None:
            line = notation.cut(text, TWO, WORD | {"class", "in"})
            topic.nouns.append(_classed(notation.noun_of(line), line))

        def adjective(text: str) -> None:
            line = notation.cut(text, TWO, frozenset({"of", "attributive"}))
            word, classes = notation.adjective(*line.columns), _classes(line, "of")
            topic.adjectives.append(ClassedAdjective(word, classes, "attributive" not in line.options))

        def verb(text: str) -> None:
            topic.frames.append(_frame(notation.cut(text, TWO, VALENCY)))

        rules = {"nouns": noun, "adjectives": adjective, "verbs": verb}
        self._file(path, rules | (self._general_rules() if topic is general else {"topic": name}))

    def _general_rules(self) -> dict[str, Rule]:
        general = self.lexicon.general

        def pair(entries: list[Phrase]) -> Rule:
            def rule(text: str) -> None:
                german, english = notation.cut(text, TWO, frozenset()).columns
                entries.append(notation.phrase(german, english))

            return rule

        def firstname(text: str) -> None:
            line = notation.cut(text, ONE, frozenset({"f", "m"}))
            if not line.options:
                raise NotationError("a first name is ; f or ; m")
            general.firstnames.append((line.columns[0], "f" if "f" in line.options else "m"))

        return {
            "cities": pair(general.cities),
            "countries": pair(general.countries),
            "surnames": lambda text: general.surnames.append(notation.text(text.lower())),
            "firstnames": firstname,
            "titles": lambda text: general.titles.append(notation.noun_of(notation.cut(text, TWO, WORD))),
            "times": pair(general.times),
            "adverbs": pair(general.adverbs),
            "openers": pair(general.openers),
            "people": pair(general.people),
        }

    # ------------------------------------------------------------------ shifts

    def _shifted_noun(self, text: str) -> None:
        line = notation.cut(
            text, THREE, WORD | {"class", "topics", "role", "cats", "values", "in", "plural", "only", "except"}
        )
        german, news, shop = line.columns
        for_news = notation.noun(german, news, line.options)
        for_shop = notation.noun(german, shop, line.options)
        role = line.options.get("role", "")
        if role not in ROLES:
            raise NotationError(f"role={role}: wanted one of {', '.join(sorted(ROLES))}")
        entry = _classed(for_news, line)
        for topic in self._named(self._topics, line.values("topics")):
            topic.nouns.append(entry)
        for category in self._named(self._categories, line.values("cats")):
            if role == "head":
                category.heads.append(for_shop)
            elif role == "part":
                category.parts.append(Part(for_shop, (), "plural" in line.options, line.scope))
            elif role == "accessory":
                category.accessories.append(Accessory(for_shop, line.scope))
            elif role == "material":
                category.materials.append(Material(for_shop, line.scope))
            else:
                values = notation.values(line.options.get("values", "").replace("_", " "))
                category.attributes.append(Attribute(for_shop, values, line.scope))
        self._shift(for_shop.lemma, news, shop)

    def _shifted_adjective(self, text: str) -> None:
        line = notation.cut(text, THREE, frozenset({"of", "cats", "topics", "only", "except"}))
        german, news, shop = line.columns
        for_news, for_shop = notation.adjective(german, news), notation.adjective(german, shop)
        self.lexicon.general.adjectives.append(ClassedAdjective(for_news, _classes(line, "of")))
        for category in self._named(self._categories, line.values("cats")):
            category.features.append(Feature(for_shop, line.scope))
        self._shift(for_shop.lemma, news, shop)

    def _shifted_verb(self, text: str) -> None:
        line = notation.cut(text, THREE, VALENCY | {"cats", "topics", "only", "except"})
        german, news, shop = line.columns
        frame = _frame(Line((german, news), line.options))
        named = line.values("topics")
        for topic in self._named(self._topics, named) if named else [self.lexicon.general]:
            topic.frames.append(frame)
        for category in self._named(self._categories, line.values("cats")):
            category.handlings.append(Handling(notation.verb(german, shop), line.scope))
        self._shift(frame.verb.infinitive, news, shop)

    def _shift(self, german: str, news: str, shop: str) -> None:
        if news == shop:
            raise NotationError(f"{german!r} means {news!r} in both domains")
        if any(known.german == german for known in self.lexicon.shifts):
            raise NotationError(f"{german!r} is listed twice")
        self.lexicon.shifts.append(Shift(german, news, shop))

    @staticmethod
    def _named(known: dict[str, T], names: tuple[str, ...]) -> list[T]:
        if names == ("*",):
            return list(known.values())
        if not names:
            raise NotationError("topics= and cats= must name files, or *")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise NotationError(f"no such file: {', '.join(unknown)}")
        return [known[name] for name in names]


def _entries(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line number, section, entry) of every line that is neither blank nor a comment."""
    section = ""
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        text = raw.partition("#")[0].strip()
        if text.startswith("[") and text.endswith("]"):
            section = text[1:-1]
        elif text:
            yield number, section, text


def _classes(line: Line, key: str) -> tuple[str, ...]:
    names = line.values(key)
    unknown = sorted(set(names) - CLASSES)
    if unknown or not names:
        raise NotationError(f"{key}={','.join(unknown)}: wanted some of {', '.join(sorted(CLASSES))}")
    return names


def _classed(noun: Noun, line: Line) -> ClassedNoun:
    return ClassedNoun(noun, _classes(line, "class"), line.options.get("in", "in"))


def _frame(line: Line) -> Frame:
    verb = notation.verb(*line.columns[:2])
    subject = _classes(line, "subj")
    given = [key for key in ("obj", "dat", "prep", "that", "zu") if key in line.options]
    if len(given) > 1:
        raise NotationError(f"one line for each of {', '.join(given)}")
    if ("prep" in line.options) != ("pobj" in line.options):
        raise NotationError("prep= and pobj= go together")
    return Frame(
        verb,
        subject,
        object=_classes(line, "obj") if "obj" in line.options else (),
        dative=_classes(line, "dat") if "dat" in line.options else (),
        preposition=notation.preposition(line.options["prep"]) if "prep" in line.options else None,
        prepositional_object=_classes(line, "pobj") if "pobj" in line.options else (),
        clause="that" if "that" in line.options else "zu" if "zu" in line.options else "",
    )
