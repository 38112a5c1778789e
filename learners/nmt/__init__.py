"""Neural translation models: the task's attentional GRU and a Transformer, their training, decoding and storage.

``Translator`` is the entry point: it takes and returns text, and hides which model, device or engine does the work. Run
and train models inside ``processor.denormals_as_zero``. Nothing here knows about rewards: ``learners.bandit`` does.

Learning from one sentence at a time is a stream of tiny operations, which threads only slow down: everything here runs
on one thread (start Python with OPENBLAS_NUM_THREADS=1 to limit numpy, too). Several runs are several processes.
"""

import torch

torch.set_num_threads(1)
