"""Vocabularies: subwords for the BNMT systems, words for the WNMT systems (Sokolov et al. 2017, sections 4.2 and 5.2).

A vocabulary also decides what to write where the model predicts an unknown token, because that depends on what is
unknown to it: to subwords, part numbers and characters that the training text did not have; to words, all rare words.
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
FIRST_OUTPUT_ID = 2  # PAD and BOS are never part of a translation
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
SEPARATOR = "<sep>"  # between the sentences of a context; a token of its own in vocabularies that have it
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # how sentencepiece writes a space
CHARACTER_COVERAGES = (1.0, 0.9999, 0.999)  # tried in turn: the vocabulary may be too small for all characters
MAX_LINE_BYTES = 4_192  # sentencepiece skips longer lines


class Vocabulary(ABC):
    """A numbered list of tokens: 0 is padding, 1 begins a sentence, 2 ends it, and 3 stands for all unknown tokens."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return the number of tokens."""

    @abstractmethod
    def encode(self, text: str) -> tuple[list[int], list[str]]:
        """Return the tokens of a text, as ids and as strings."""

    @abstractmethod
    def decode(self, tokens: Iterable[int | str]) -> str:
        """Return the text of tokens, which are ids or, outside the vocabulary, strings."""

    @abstractmethod
    def begins_word(self, token: int) -> bool:
        """Return whether a word of the text begins with this token."""

    @abstractmethod
    def replacement(
        self, attention: Floats, source_ids: Sequence[int], source: Sequence[str], lexicon: Mapping[str, str]
    ) -> str | None:
        """Return what to write for an unknown token, or None for nothing.

        ``attention`` has a weight for each token of the source and for its end symbol.
        """

    @abstractmethod
    def packed(self) -> npt.NDArray[np.uint8]:
        """Return the vocabulary as bytes, for a snapshot."""


class SubwordVocabulary(Vocabulary):
    """Byte-pair encoding of both languages jointly, with every character of the training text.

    Words of both letters and digits, such as part numbers, are not split: they are unknown tokens, and copied whole.
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
            raise SnapshotError("the subword vocabulary is damaged, or banditmt did not make it")
        self._pieces: list[str] = self._processor.IdToPiece(list(range(self.size)))
        self._ids = {piece: token for token, piece in enumerate(self._pieces)}

    @classmethod
    def learn(cls, texts: Iterable[str], size: int, *, separator: bool = False) -> "SubwordVocabulary":
        """Learn at most ``size`` subwords, with or without a token that separates sentences. Deterministic."""
        lines = [text for text in texts if text.strip()]
        if not lines:
            raise TrainingError("cannot learn subwords from an empty text")
        for coverage in CHARACTER_COVERAGES:
            try:
                return cls(_train_sentencepiece(lines, size, coverage, [SEPARATOR] if separator else []))
            except RuntimeError as error:
                reason = str(error).split("] ")[-1]
        raise TrainingError(f"cannot learn {size:,} subwords from this text: {reason}")

    @property
    def size(self) -> int:
        return int(self._processor.GetPieceSize())

    @property
    def separator(self) -> int:
        """The token between two sentences; raises SnapshotError if the vocabulary has none."""
        if SEPARATOR not in self._ids:
            raise SnapshotError("the vocabulary has no token that separates sentences")
        return self._ids[SEPARATOR]

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        pieces: list[str] = []
        for is_code, words in groupby(text.split(), _is_code):
            if is_code:
                pieces += (SPACE + word for word in words)
            else:
                pieces += self._processor.encode(" ".join(words), out_type=str)
        return [self._ids.get(piece, UNK) for piece in pieces], pieces

    def decode(self, tokens: Iterable[int | str]) -> str:
        pieces = (self._pieces[token] if isinstance(token, int) else token for token in tokens)
        return "".join(pieces).replace(SPACE, " ").strip()

    def begins_word(self, token: int) -> bool:
        return token == UNK or self._pieces[token].startswith(SPACE)

    def replacement(
        self,
        attention: Floats,
        source_ids: Sequence[int],
        source: Sequence[str],
        lexicon: Mapping[str, str],  # noqa: ARG002 (a dictionary has words, not characters)
    ) -> str | None:
        """Return the unknown token of the source with the most attention."""
        unknown = [position for position, token in enumerate(source_ids) if token == UNK]
        return source[max(unknown, key=lambda position: attention[position])] if unknown else None

    def packed(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._model, np.uint8)

    @classmethod
    def unpack(cls, data: npt.NDArray[np.uint8]) -> "SubwordVocabulary":
        return cls(data.tobytes())


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _train_sentencepiece(lines: Sequence[str], size: int, coverage: float, symbols: list[str]) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=size,
        hard_vocab_limit=False,  # a small text has fewer subwords
        character_coverage=coverage,
        normalization_rule_name="identity",
        split_digits=True,  # numbers are copied, digit by digit
        max_sentence_length=MAX_LINE_BYTES,
        num_threads=1,
        user_defined_symbols=symbols,
        minloglevel=2,
        pad_id=PAD,
        bos_id=BOS,
        eos_id=EOS,
        unk_id=UNK,
    )
    return model.getvalue()


class WordVocabulary(Vocabulary):
    """The most frequent words of one language; all others are unknown."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [*SPECIALS, *words]
        self._ids = {word: token for token, word in enumerate(self._words)}
        if len(self._ids) != len(self._words) or any(word.split() != [word] for word in words):
            raise SnapshotError("the word list is damaged: words must be unique and contain no spaces")

    @classmethod
    def learn(cls, texts: Iterable[str], size: int) -> "WordVocabulary":
        """Take the most frequent words, at most ``size`` with the special symbols; ties are broken by spelling."""
        counts = Counter(word for text in texts for word in text.split() if word not in SPECIALS)
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        if not ranked:
            raise TrainingError("cannot learn words from an empty text")
        return cls(ranked[: size - len(SPECIALS)])

    @property
    def size(self) -> int:
        return len(self._words)

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        words = text.split()
        return [self._id(word) for word in words], words

    def decode(self, tokens: Iterable[int | str]) -> str:
        return " ".join(self._words[token] if isinstance(token, int) else token for token in tokens)

    def begins_word(self, token: int) -> bool:
        return token >= UNK

    def replacement(
        self,
        attention: Floats,
        source_ids: Sequence[int],  # noqa: ARG002 (a known source word can have an unknown translation)
        source: Sequence[str],
        lexicon: Mapping[str, str],
    ) -> str | None:
        """Return the dictionary's translation of the source word with the most attention, or else that word."""
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

    def _id(self, word: str) -> int:
        token = self._ids.get(word, UNK)
        return token if token >= len(SPECIALS) else UNK  # a source cannot spell control symbols


def to_text(
    ids: Sequence[int],
    vocabulary: Vocabulary,
    attention: Floats,
    source: tuple[list[int], list[str]],
    lexicon: Mapping[str, str],
) -> str:
    """Return the text of a translation, with every unknown token replaced.

    ``attention`` is [target, source]; ``source`` is what ``encode`` returned, with the end symbol among its ids.
    """
    tokens: list[int | str] = []
    for position, token in enumerate(ids):
        if token == UNK:
            replaced = vocabulary.replacement(attention[position], *source, lexicon)
            tokens += [] if replaced is None else [replaced]
        elif token >= len(SPECIALS):
            tokens.append(token)
    return vocabulary.decode(tokens)
