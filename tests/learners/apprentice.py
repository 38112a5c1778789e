"""A learner that needs post-edits and documents, samples, and keeps all that it receives."""

import math
import random

from learners.contract import Learner, Proposal


class Apprentice(Learner):
    """Adds a word to the source, sampled from the post-edits of the document, or from all post-edits in a new one."""

    def __init__(self, seed=0):
        self.rng = random.Random(seed)
        self.words = ["word"]  # of all post-edits
        self.document, self.words_of_document = None, []
        self.received = []

    def propose(self, sentence):
        if sentence.document != self.document:
            self.document, self.words_of_document = sentence.document, []
        words = self.words_of_document or self.words
        word = self.rng.choice(words)
        return Proposal(f"{sentence.source} {word}", math.log(words.count(word) / len(words)))

    def update(self, sentence, translation, feedback):
        self.words += feedback.post_edit.split()
        self.words_of_document += feedback.post_edit.split()
        self.received.append(
            (sentence.source, sentence.document, sentence.position, translation, feedback.reward, feedback.post_edit)
        )
