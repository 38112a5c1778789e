"""What is translated: making, importing, cleaning and describing parallel text, and cutting it into a task.

The synthetic e-commerce generator, the readers of real corpora, the cleaning steps of the task paper and the task
directory's files live here. How sentences are served and scored does not. The package depends only on ``task``, which
describes a task and the layout of its phases.
"""
