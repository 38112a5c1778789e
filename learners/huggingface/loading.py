"""Loading a model of transformers: from a folder or from the hub, with adapters if the config asks for them."""

import hashlib
from pathlib import Path
from typing import Any

import torch

from learners.errors import LearnerError
from learners.huggingface.configs import HuggingFaceConfig
from learners.huggingface.translator import HuggingFaceTranslator
from learners.nmt.translator import default_device


def load_translator(config: HuggingFaceConfig, *, trainable: bool, seed: int = 0) -> HuggingFaceTranslator:
    """Return a translator with the model of a config.

    Args:
        config: The model, and how it reads and writes.
        trainable: Whether it will learn: only then adapters are added.
        seed: Of the initial adapters.

    Raises:
        LearnerError: There is no such model, or it is of no kind that translates.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    if not config.name:
        raise LearnerError("no model: --set model.name=FOLDER, or the name of a model on the hub")
    try:
        is_encoder_decoder = AutoConfig.from_pretrained(config.name).is_encoder_decoder
        kind: Any = AutoModelForSeq2SeqLM if is_encoder_decoder else AutoModelForCausalLM
        model = kind.from_pretrained(config.name, dtype=torch.float32)
        tokeniser = AutoTokenizer.from_pretrained(config.name)
    except (OSError, ValueError, KeyError, ImportError) as reason:  # the last: of a tokeniser's own packages
        raise LearnerError(
            f"transformers cannot load the model {config.name!r}: {' '.join(str(reason).split())}"
        ) from None
    try:
        model = model.to(default_device() if config.device == "auto" else torch.device(config.device))
    except (RuntimeError, AssertionError) as reason:  # an unknown device, or one that torch was built without
        raise LearnerError(f"model.device={config.device} cannot be used here: {str(reason).splitlines()[0]}") from None
    if not trainable:
        model.requires_grad_(False)
    elif config.lora_rank:
        model = _with_adapters(model, config, seed)
    return HuggingFaceTranslator(model, tokeniser, config)


def _with_adapters(model: Any, config: HuggingFaceConfig, seed: int) -> Any:
    from peft import LoraConfig, get_peft_model

    kind = "SEQ_2_SEQ_LM" if model.config.is_encoder_decoder else "CAUSAL_LM"
    targets = config.lora_targets if config.lora_targets == "all-linear" else config.lora_targets.split(",")
    adapters = LoraConfig(
        r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules=targets, task_type=kind, lora_dropout=0.0
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # so that a run that is resumed begins with the same adapters
        return get_peft_model(model, adapters)


def model_digest(name: str) -> str:
    """Return the digest of a model's files; of a model on the hub, only its name is known."""
    folder = Path(name)
    if not folder.is_dir():
        return name
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
