"""Tokens and their numbers: subwords for the BNMT systems, words for the WNMT ones.

A vocabulary also knows what to write where the model says "unknown" (card B7 and B9), because that depends on what its
unknowns are: part numbers and single characters that no training text had, or rare words.
"""

import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
import sentencepiece

from learners.errors import SnapshotError, TrainingError
from learners.nmt.hypothesis import Floats

PAD, BOS, EOS, UNK = range(4)
NEVER_WRITTEN = 2  # the first two symbols are never part of a translation
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # how sentencepiece writes a space
COVERAGES = (1.0, 0.9999, 0.999)  # of the text's characters: all, unless there are more than the vocabulary can hold
LONGEST_LINE = 4_192  # characters: what subwords are learned from, at most, per line


class Vocabulary(ABC):
    """A numbered list of tokens. Number 0 pads, 1 begins, 2 ends a sentence, and 3 stands for all unknowns."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers there are."""

    @abstractmethod
    def encode(self, text: str) -> tuple[list[int], list[str]]:
        """The tokens of a text as numbers and as written."""

    @abstractmethod
    def decode(self, tokens: Iterable[int | str]) -> str:
        """The text of a list of tokens; what is not in the vocabulary is given as written."""

    @abstractmethod
    def replacement(
        self, attention: Floats, source_ids: Sequence[int], source: Sequence[str], lexicon: Mapping[str, str]
    ) -> str | None:
        """What to write for an unknown, or None for nothing; ``attention`` is over the source and its end symbol."""

    @abstractmethod
    def packed(self) -> npt.NDArray[np.uint8]:
        """The vocabulary as bytes, for a snapshot."""


class SubwordVocabulary(Vocabulary):
    """Byte-pair encoding, of both languages jointly; every character of the training text is covered.

    Part numbers and the like, words of both letters and digits, are no text: they are unknowns, and copied whole.
    """

    def __init__(self, model: bytes) -> None:
        self._model = model
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
            specials = tuple(self._processor.IdToPiece(list(range(len(SPECIALS)))))
        except (RuntimeError, IndexError):
            specials = ()
        if specials != SPECIALS:
            raise SnapshotError("the subword vocabulary is damaged or was not made by banditmt")
        self._pieces: list[str] = self._processor.IdToPiece(list(range(self.size)))
        self._numbers = {piece: number for number, piece in enumerate(self._pieces)}

    @classmethod
    def learn(cls, texts: Iterable[str], size: int) -> "SubwordVocabulary":
        """Learn at most ``size`` subwords; deterministic."""
        lines = [text for text in texts if text.strip()]
        if not lines:
            raise TrainingError("no subwords can be learned from an empty text")
        for coverage in COVERAGES:
            try:
                return cls(_learned_bytes(lines, size, coverage))
            except RuntimeError as error:
                reason = str(error).split("] ")[-1]
        raise TrainingError(f"no {size:,} subwords can be learned from this text: {reason}")

    @property
    def size(self) -> int:
        return int(self._processor.GetPieceSize())

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        pieces: list[str] = []
        for is_code, words in groupby(text.split(), _is_code):
            if is_code:
                pieces += (SPACE + word for word in words)
            else:
                pieces += self._processor.encode(" ".join(words), out_type=str)
        return [self._numbers.get(piece, UNK) for piece in pieces], pieces

    def decode(self, tokens: Iterable[int | str]) -> str:
        pieces = (self._pieces[token] if isinstance(token, int) else token for token in tokens)
        return "".join(pieces).replace(SPACE, " ").strip()

    def replacement(
        self,
        attention: Floats,
        source_ids: Sequence[int],
        source: Sequence[str],
        lexicon: Mapping[str, str],  # noqa: ARG002 - a dictionary knows words, not characters
    ) -> str | None:
        """The unknown of the source that the model looked at most."""
        unknown = [position for position, number in enumerate(source_ids) if number == UNK]
        return source[max(unknown, key=lambda position: attention[position])] if unknown else None

    def packed(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._model, np.uint8)

    @classmethod
    def unpack(cls, data: npt.NDArray[np.uint8]) -> "SubwordVocabulary":
        return cls(data.tobytes())


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _learned_bytes(lines: Sequence[str], size: int, coverage: float) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=size,
        hard_vocab_limit=False,  # a small text has fewer
        character_coverage=coverage,
        normalization_rule_name="identity",
        split_digits=True,  # numbers are copied, digit by digit
        max_sentence_length=LONGEST_LINE,
        num_threads=1,
        minloglevel=2,
        pad_id=PAD,
        bos_id=BOS,
        eos_id=EOS,
        unk_id=UNK,
    )
    return model.getvalue()


class WordVocabulary(Vocabulary):
    """The most frequent words of one language; the rest is unknown."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [*SPECIALS, *words]
        self._numbers = {word: number for number, word in enumerate(self._words)}
        if len(self._numbers) != len(self._words) or any(word.split() != [word] for word in words):
            raise SnapshotError("the word list is damaged: words must be unique and without spaces")

    @classmethod
    def learn(cls, texts: Iterable[str], size: int) -> "WordVocabulary":
        """The most frequent words, at most ``size`` with the specials; ties go by spelling."""
        counts = Counter(word for text in texts for word in text.split() if word not in SPECIALS)
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        if not ranked:
            raise TrainingError("no words can be learned from an empty text")
        return cls(ranked[: size - len(SPECIALS)])

    @property
    def size(self) -> int:
        return len(self._words)

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        words = text.split()
        return [self._number(word) for word in words], words

    def decode(self, tokens: Iterable[int | str]) -> str:
        return " ".join(self._words[token] if isinstance(token, int) else token for token in tokens)

    def replacement(
        self,
        attention: Floats,
        source_ids: Sequence[int],  # noqa: ARG002 - a known source word can have an unknown translation
        source: Sequence[str],
        lexicon: Mapping[str, str],
    ) -> str | None:
        """The dictionary's word for the source word that the model looked at most, or that word itself."""
        position = int(np.argmax(attention))
        if position >= len(source):
            return None
        return lexicon.get(source[position], source[position])

    def packed(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer("\n".join(self._words[len(SPECIALS) :]).encode(), np.uint8)

    @classmethod
    def unpack(cls, data: npt.NDArray[np.uint8]) -> "WordVocabulary":
        try:
            return cls(data.tobytes().decode().split("\n"))
        except UnicodeDecodeError:
            raise SnapshotError("the word list is damaged: it is not UTF-8") from None

    def _number(self, word: str) -> int:
        number = self._numbers.get(word, UNK)
        return number if number >= len(SPECIALS) else UNK  # a source cannot spell control symbols


def spell(
    ids: Sequence[int],
    vocabulary: Vocabulary,
    attention: Floats,
    source: tuple[list[int], list[str]],
    lexicon: Mapping[str, str],
) -> str:
    """The text of a translation, every unknown replaced; ``attention`` has a row for each of ``ids``."""
    tokens: list[int | str] = []
    for position, number in enumerate(ids):
        if number == UNK:
            replaced = vocabulary.replacement(attention[position], *source, lexicon)
            tokens += [] if replaced is None else [replaced]
        elif number >= len(SPECIALS):
            tokens.append(number)
    return vocabulary.decode(tokens)
