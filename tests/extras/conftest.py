"""Tests of what needs an extra: each runs in an environment with just that extra (``make extras-check``).

In an environment without the extra, its tests are not collected.
"""

from importlib.util import find_spec

NEEDS = {
    "test_gymnasium.py": "gymnasium",
    "test_huggingface.py": "transformers",
    "test_optuna.py": "optuna",
    "test_ray.py": "ray",
    "test_trackers.py": "tensorboard",
    "test_trl.py": "trl",
}
collect_ignore = [name for name, module in NEEDS.items() if find_spec(module) is None]
