"""Any encoder-decoder model of transformers, learning from one reward per sentence, with the SDK alone.

    BANDITMT_URL=... BANDITMT_API_KEY=... python examples/huggingface_sdk.py MODEL [PHASE]

The policy gradient of expected loss, with the running mean of rewards as baseline. The system
`learners.huggingface.systems:EXPECTED_LOSS` of `banditmt play` does more: it resumes exactly, has minibatches and LoRA,
and guards lengths. This one only shows how little the SDK needs.
"""

import sys

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from banditmt_client import Client

name, phase = sys.argv[1], (sys.argv[2:] or ["dev"])[0]
model, tokeniser = AutoModelForSeq2SeqLM.from_pretrained(name, dtype=torch.float32), AutoTokenizer.from_pretrained(name)
optimiser = torch.optim.Adam(model.parameters(), lr=1e-5)
torch.manual_seed(1)

with Client() as client:
    run = client.open_run(phase=phase, system="huggingface-sdk")
    mean = 0.0
    for rounds, sentence in enumerate(run, start=1):
        source = tokeniser(sentence.source, return_tensors="pt")
        with torch.no_grad():
            # All of the distribution: with top_k or top_p, samples would not be those of the model that learns.
            output = model.generate(**source, do_sample=True, top_k=0, top_p=1.0, num_beams=1, max_new_tokens=64)
        labels = output[:, 1:]  # without the token that decoders start with
        text = " ".join(tokeniser.decode(labels[0], skip_special_tokens=True).split())
        reward = run.submit(text or sentence.source)
        mean += (reward - mean) / rounds
        if text:  # the reward of a copied source says nothing about the sample
            (model(**source, labels=labels).loss * labels.shape[1] * (reward - mean)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
    print(f"{run.total} rounds, mean reward {run.progress.cumulative_reward / run.total:.4f}")
