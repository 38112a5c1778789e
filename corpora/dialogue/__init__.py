"""English-German dialogues whose lines depend on each other, and contrastive sets that test what depends on context.

The German of a line depends on earlier lines in four ways: how the speakers address each other (deixis), the verb that
an ellipsis leaves out, the case of a noun phrase whose verb is left out, and how a name was rendered before (lexical
cohesion). They are the main sources of inconsistency that Voita et al. 2019 found (section 2). The words are inflected
by ``corpora.synth``. The same seed gives the same text on every machine.
"""
