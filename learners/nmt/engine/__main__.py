"""``python -m learners.nmt.engine`` compiles the engine if need be, as set-up does: then nobody waits for it later."""

from learners.nmt.engine import cache
from learners.nmt.engine.compilation import ensure_compiled

ensure_compiled(cache())
