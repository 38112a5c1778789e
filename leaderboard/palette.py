"""The colours of page and figures: one list, so that a system looks alike on screen and in print.

Any two colours of a theme differ clearly, also with the three kinds of colour blindness, and each can be read as text
on its background. Runs for comparison are grey: dashes tell them apart. ``site/style.css`` has the same values.
"""

LIGHT_SERIES = ("#186bff", "#b16305", "#10794e", "#c00196", "#722eb6", "#654700", "#4b051a", "#251b5b")
DARK_SERIES = ("#93c4ff", "#d09022", "#2affae", "#e1509d", "#9d79ff", "#f6dc14", "#fb275d", "#e7f2ff")
LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#171b22"
LIGHT_REFERENCE, DARK_REFERENCE = "#5b6472", "#9da7b8"
