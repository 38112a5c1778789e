"""What one reward says about the parts of a translation.

Sentence BLEU at full precision is more than one number: hardly two sets of n-gram matches give the same value.
``bleu_decoding`` finds the matches, and ``matched_words`` the probability of each word to be one of them. Learners use
both to give every word its own credit. Rounded or noisy rewards cannot be decoded, and nothing here guesses then.
"""
