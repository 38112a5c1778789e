"""Compile the engine ahead of its first use: ``python -m learners.nmt.engine``, as ``make setup`` does."""

from learners.nmt.engine import cache_folder
from learners.nmt.engine.compilation import ensure_compiled

ensure_compiled(cache_folder())
