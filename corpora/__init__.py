"""The text of a task: parallel text is generated or imported, cleaned, described, and split into phases.

The generator of synthetic e-commerce text, the readers of real corpora, the cleaning steps of the task paper and the
format of a task directory belong here. How sentences are served and scored does not. This package depends only on
``task``.
"""
