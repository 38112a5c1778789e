"""Models of transformers as seed models: any encoder-decoder or causal language model, with or without LoRA.

``HuggingFaceTranslator`` has the methods of our own networks' translator, so that all neural learners learn with such a
model unchanged. It needs the extra ``banditmt[huggingface]``; nothing else here imports transformers or peft.
"""
