"""What is translated: making, importing, cleaning and describing parallel text, and cutting it into a task.

The synthetic e-commerce generator, the readers of real corpora, the cleaning steps of the task paper and the task
directory's format live here. How sentences are served and scored does not: this room depends on no other, and is told
the layout of each phase by its caller.
"""
