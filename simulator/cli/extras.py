"""The packages that come with an extra: commands load them when they need them, and say which extra is missing."""

from importlib.util import find_spec

EXTRA_OF = {
    **dict.fromkeys(("filelock", "numba", "sentencepiece", "torch"), "learners"),
    **dict.fromkeys(("altair", "vl_convert"), "figures"),
    **dict.fromkeys(("transformers", "peft"), "huggingface"),
}


def check_extras(*extras: str) -> None:
    """Raise ModuleNotFoundError for the first package of these extras that is not installed.

    For a command that would otherwise find out after minutes.
    """
    for package, extra in EXTRA_OF.items():
        if extra in extras and find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def describe_missing(missing: ModuleNotFoundError) -> str | None:
    """Return what to install for a package that is missing; None if it does not come with an extra."""
    package = (missing.name or "").partition(".")[0]
    extra = EXTRA_OF.get(package)
    return extra and f"this needs {package}: pip install 'banditmt[{extra}]'"
