"""Tiny models of transformers, made on the spot: random weights, a vocabulary of a few words."""

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    set_seed,
)

WORDS = ["<pad>", "<s>", "</s>", "<unk>", "<en>", "rot", "blau", "seil", "red", "blue", "rope", "German:", "English:"]
WORDS += ["decke", "gross", "cm", "neu", "blanket", "large", "new"]
PAD, START, END, EN = 0, 1, 2, 4


def tiny_tokeniser(ends: bool):
    """Return a tokeniser of words; with ``ends``, a source ends with the end symbol."""
    tokeniser = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokeniser.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if ends:
        tokeniser.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", END)])
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokeniser, **special)


def save_encoder_decoder(folder):
    """Write an encoder-decoder model of a few thousand parameters, and return its folder."""
    set_seed(3)
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 64}
    tokens = {"pad_token_id": PAD, "bos_token_id": START, "eos_token_id": END, "decoder_start_token_id": END}
    config = BartConfig(vocab_size=len(WORDS), **sizes, **heads, **tokens, forced_eos_token_id=None, init_std=0.5)
    return _save(BartForConditionalGeneration(config), tiny_tokeniser(ends=True), folder)


def save_causal(folder, positions=64):
    """Write a causal model of a few thousand parameters, and return its folder."""
    set_seed(4)
    config = GPT2Config(
        vocab_size=len(WORDS),
        n_positions=positions,
        n_embd=16,
        n_layer=1,
        n_head=2,
        bos_token_id=START,
        eos_token_id=END,
        pad_token_id=PAD,
        initializer_range=0.5,
    )
    return _save(GPT2LMHeadModel(config), tiny_tokeniser(ends=False), folder)


def _save(model, tokeniser, folder):
    model.save_pretrained(folder)
    tokeniser.save_pretrained(folder)
    return str(folder)
