"""GRPO of TRL with the rewards of a phase: python examples/trl_grpo.py MODEL SYSTEM [PHASE]

GRPO compares several translations of each sentence, and a run gives one reward per sentence. So each translation goes
to a run of its own, SYSTEM.1 to SYSTEM.4. That is allowed in mock and dev, which can be played many times, and not in
training. BANDITMT_URL and BANDITMT_API_KEY name the service. MODEL is a causal model: TRL trains no other.
"""

import sys

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from banditmt_client import Client

if len(sys.argv) < 3:
    sys.exit(__doc__)
model, system, phase = *sys.argv[1:3], (sys.argv[3:] or ["dev"])[0]
GENERATIONS = 4
PROMPT = "German: {} English:"


def read_sources(client: Client) -> list[str]:
    """Return all sentences, by a run that copies them: TRL wants its prompts before the first of them is played."""
    run = client.open_run(phase=phase, system=f"{system}.sources")
    sources = []
    for sentence in run:
        sources.append(sentence.source)
        run.submit(sentence.source)
    return sources if len(sources) == run.total else read_sources(client)  # else an interrupted run is now finished


with Client() as client:
    sources = read_sources(client)
    runs = [client.open_run(phase=phase, system=f"{system}.{number + 1}") for number in range(GENERATIONS)]
    if any(run.progress.index for run in runs):
        sys.exit(f"{system} was begun before, with a model that is gone: choose another name")

    def play(prompts, completions, **_) -> list[float]:
        """Return the reward of each translation; the translations of a sentence follow one another."""
        rewards = []
        for number, completion in enumerate(completions):
            run = runs[number % GENERATIONS]
            source, text = run.sentence().source, " ".join(completion.split("\n")[0].split())
            assert prompts[number] == PROMPT.format(source), "TRL must keep the order of sentences"
            reward = run.submit(text or source)
            rewards.append(reward if text else 0.0)  # the reward of a copied source says nothing about the sample
        return rewards

    config = GRPOConfig(
        output_dir=f"{system}-trl",
        num_generations=GENERATIONS,
        per_device_train_batch_size=GENERATIONS,  # one sentence at a time
        steps_per_generation=1,
        gradient_accumulation_steps=8,
        shuffle_dataset=False,
        num_train_epochs=1,
        max_completion_length=64,
        learning_rate=1e-5,
        bf16=False,  # TRL's default, which needs a GPU
        gradient_checkpointing=False,
        save_strategy="no",
        report_to="none",
    )
    prompts = Dataset.from_dict({"prompt": [PROMPT.format(source) for source in sources]})
    GRPOTrainer(model, play, config, prompts).train()
    rewards = [run.progress.cumulative_reward / run.total for run in runs]
    print(f"{len(sources)} sentences, {GENERATIONS} runs, mean rewards {', '.join(f'{one:.4f}' for one in rewards)}")
