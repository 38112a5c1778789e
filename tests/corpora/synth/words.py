"""Words of a small lexicon for tests."""

from corpora.synth.lexicon.entries import MeasurementUnit
from corpora.synth.lexicon.notation import EVERYWHERE, parse_action, parse_adjective, parse_noun

BLANKET = parse_noun("die decke, decken", "blanket", {})
HANDLE = parse_noun("der griff, griffe", "handle", {})
COTTON = parse_noun("die baumwolle, -", "cotton/-", {})
WEIGHT = parse_noun("das gewicht, gewichte, gewichts", "weight", {})
BAG = parse_noun("der beutel, beutel", "bag", {})
SOFT = parse_adjective("weich", "soft")
STURDY = parse_adjective("robust", "sturdy")
RED = parse_adjective("rot", "red")
ADAPT = parse_action("passt an, anpassen", "sich dem körper", "adapt to the body", EVERYWHERE)
UNITS = {"g": MeasurementUnit("g", "g", "gram", "gramm"), "monate": MeasurementUnit("monate", "months", "month", "")}
