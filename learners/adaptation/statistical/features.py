"""The features of the adapting system: the same block of phrase features for each table, and what both share."""

PHRASE_FEATURES = (
    "EgivenF",  # log probability of the target side given the source side; all logarithms are to base 10
    "CountF",  # log of 1 + occurrences of the source side
    "CountEF",  # log of 1 + occurrences of the phrase pair
    "LexFgivenE",  # log probability of the source words, each given its most probable partner in the target
    "LexEgivenF",  # the same of the target words, given the source
    "SingletonF",  # phrases whose source side was seen once
    "SingletonEF",  # phrase pairs that were seen once
)
ORIENTATIONS = ("Monotone", "Swap", "Discontinuous")  # to the phrase before, and of the phrase after
REORDERING_FEATURES = tuple(f"{side}{name}" for side in ("Previous", "Next") for name in ORIENTATIONS)
TABLE_FEATURES = (*PHRASE_FEATURES, *REORDERING_FEATURES)
SHARED_FEATURES = ("WordPenalty", "PhraseCount", "PassThrough", "Distortion")
LM_FEATURES = ("Background.LM", "Background.LM_OOV", "Foreground.LM")
FEATURES = (
    *(f"Background.{name}" for name in TABLE_FEATURES),
    *(f"Foreground.{name}" for name in TABLE_FEATURES),
    *SHARED_FEATURES,
    *LM_FEATURES,
)
FEATURE = {name: place for place, name in enumerate(FEATURES)}
BACKGROUND, FOREGROUND = 0, len(TABLE_FEATURES)  # where the features of each table begin
PHRASES, ORIENTATION_COUNT = len(PHRASE_FEATURES), len(ORIENTATIONS)

# Weights before tuning; features that are not listed have weight 0.
INITIAL_WEIGHTS = {
    "Background.EgivenF": 1.0,
    "Background.LexFgivenE": 0.3,
    "Background.LexEgivenF": 0.3,
    **{f"Background.{name}": 0.2 for name in REORDERING_FEATURES},
    "Background.LM": 1.0,
    "WordPenalty": -1.0,
    "PassThrough": -3.0,
    "Distortion": 0.1,
}
