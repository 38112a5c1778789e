"""Neural translation models: the task's attentional GRU and a Transformer, their training, search and storage.

``Translator`` is the door: it takes and gives text, and hides which model, device or engine does the work. Who plays or
trains does so inside ``processor.denormals_as_zero``.

Learning from one sentence at a time is a stream of tiny operations, for which threads only cost: everything here runs
on one (start Python with OPENBLAS_NUM_THREADS=1 to hold numpy to it too). Several runs go side by side as processes.
"""

import torch

torch.set_num_threads(1)
