"""The network of ``learners.nmt.gru`` for one sentence, by hand: decode a translation, and compute its gradients."""

import math
from typing import NamedTuple

import numpy as np

from learners.nmt.engine.algebra import (
    Array,
    add_outer_products,
    add_rows,
    add_to_each,
    add_transposed_product,
    compiled,
    hyperbolic_tangent,
    multiply,
    softmax,
)
from learners.nmt.engine.recurrence import (
    GruActivations,
    GruParameters,
    add_gradients,
    empty_activations,
    project_inputs,
    step_backward,
    step_forward,
)
from learners.nmt.vocabulary import BOS, EOS, FIRST_OUTPUT_ID


class NetworkParameters(NamedTuple):
    """The parameters of the network, or their gradients; tied parameters share their memory."""

    source_embedding: Array  # [source vocabulary, embedding]
    target_embedding: Array  # [target vocabulary, embedding]
    forward_encoder: GruParameters
    backward_encoder: GruParameters
    bridge_weights: Array  # [decoder, features]
    bridge_bias: Array  # [decoder]
    decoder: GruParameters
    key_weights: Array  # [decoder, features]
    combine_weights: Array  # [embedding, decoder + features]
    combine_bias: Array  # [embedding]
    output_weights: Array  # [target vocabulary, embedding]
    output_bias: Array  # [target vocabulary]


class DropoutMasks(NamedTuple):
    """Factors of dropout with probability p: 0, or 1 / (1 - p). DropoutMasks without rows drop nothing."""

    source: Array  # [source, embedding]
    states: Array  # [source, features]
    target: Array  # [target, embedding]
    combined: Array  # [target, embedding]


class EncoderActivations(NamedTuple):
    """What the encoder computed for a source."""

    ids: Array  # [source]
    forward: GruActivations
    backward: GruActivations
    states: Array  # [source, features]: of both directions and, in a lexical model, the embeddings
    keys: Array  # [source, decoder]
    mean: Array  # [1, features]
    initial_state: Array  # [1, decoder]


class DecoderActivations(NamedTuple):
    """What the decoder computed for a translation."""

    ids: Array  # [target]
    gru: GruActivations
    attention: Array  # [target, source]
    state_and_context: Array  # [target, decoder + features]
    combined: Array  # [target, embedding]
    probabilities: Array  # [target, vocabulary], tempered
    log_probability: float


@compiled
def _apply_mask(mask: Array, rows: Array) -> None:
    """rows *= mask, or nothing if the mask has no rows"""
    for t in range(len(mask)):
        for j in range(mask.shape[1]):
            rows[t, j] *= mask[t, j]


@compiled
def encode(network: NetworkParameters, ids: Array, masks: DropoutMasks) -> EncoderActivations:
    """Encode a source [source]."""
    units = network.forward_encoder.state_weights.shape[1]
    length, width = len(ids), network.source_embedding.shape[1]
    like = network.output_bias
    forward_gru = empty_activations(length, width, units, like)
    own = empty_activations(length, 0, units, like)
    # Both directions share their inputs.
    backward_gru = GruActivations(forward_gru.inputs, own.before, own.gates, own.candidate, own.after)
    states = np.empty((length, network.key_weights.shape[1]), like.dtype)
    from_state = np.empty((1, 3 * units), like.dtype)
    for t in range(length):
        forward_gru.inputs[t] = network.source_embedding[ids[t]]
    _apply_mask(masks.source, forward_gru.inputs)
    project_inputs(network.forward_encoder, forward_gru, 0, length)
    project_inputs(network.backward_encoder, backward_gru, 0, length)
    last = np.zeros(units, like.dtype)
    for t in range(length):
        forward_gru.before[t] = last
        step_forward(network.forward_encoder, forward_gru, t, from_state)
        last = states[t, :units] = forward_gru.after[t]
    last = np.zeros(units, like.dtype)
    for t in range(length - 1, -1, -1):
        backward_gru.before[t] = last
        step_forward(network.backward_encoder, backward_gru, t, from_state)
        last = states[t, units : 2 * units] = backward_gru.after[t]
    if states.shape[1] > 2 * units:  # a lexical model
        states[:, 2 * units :] = forward_gru.inputs
    _apply_mask(masks.states, states)
    keys = np.empty((length, len(network.key_weights)), like.dtype)
    multiply(network.key_weights, states, keys)
    mean = np.zeros((1, states.shape[1]), like.dtype)
    add_rows(states, mean[0])
    mean /= like.dtype.type(length)
    initial_state = np.empty((1, len(network.bridge_bias)), like.dtype)
    multiply(network.bridge_weights, mean, initial_state)
    initial_state[0] += network.bridge_bias
    hyperbolic_tangent(initial_state[0])
    return EncoderActivations(ids, forward_gru, backward_gru, states, keys, mean, initial_state)


@compiled
def decode(
    network: NetworkParameters, encoder: EncoderActivations, temperature: float, uniforms: Array, max_length: int
) -> DecoderActivations:
    """Sample at most ``max_length`` tokens with the uniform numbers.

    Without numbers, decode greedily, and never the end symbol first.
    """
    like = network.output_bias
    units, width = len(network.bridge_bias), len(network.combine_bias)
    ids = np.empty(max_length, np.int64)
    gru = empty_activations(max_length, network.target_embedding.shape[1], units, like)
    from_state = np.empty((1, 3 * units), like.dtype)
    attention = np.empty((max_length, len(encoder.ids)), like.dtype)
    state_and_context = np.empty((max_length, units + encoder.states.shape[1]), like.dtype)
    combined = np.empty((max_length, width), like.dtype)
    probabilities = np.empty((max_length, len(like)), like.dtype)
    scale = like.dtype.type(1 / temperature)
    total, length, token = 0.0, 0, BOS
    while length < max_length and token != EOS:
        t = length
        gru.inputs[t] = network.target_embedding[token]
        gru.before[t] = gru.after[t - 1] if t else encoder.initial_state[0]
        project_inputs(network.decoder, gru, t, t + 1)
        step_forward(network.decoder, gru, t, from_state)
        _attend(encoder, gru.after[t], attention[t], state_and_context[t])
        multiply(network.combine_weights, state_and_context[t : t + 1], combined[t : t + 1])
        combined[t] += network.combine_bias
        hyperbolic_tangent(combined[t])
        row = probabilities[t]
        multiply(network.output_weights, combined[t : t + 1], probabilities[t : t + 1])
        for v in range(len(row)):
            row[v] = (row[v] + network.output_bias[v]) * scale
        row[:FIRST_OUTPUT_ID] = 0
        possible = row[FIRST_OUTPUT_ID:]
        if len(uniforms):
            softmax(possible)
            token = _token_at_quantile(row, uniforms[t])
            total += math.log(row[token])
        else:
            token = _most_probable(row, t > 0)
            chosen = row[token]  # its logit
            total += chosen - softmax(possible)
        ids[t] = token
        length += 1
    gru = GruActivations(
        gru.inputs[:length], gru.before[:length], gru.gates[:length], gru.candidate[:length], gru.after[:length]
    )
    return DecoderActivations(
        ids[:length],
        gru,
        attention[:length],
        state_and_context[:length],
        combined[:length],
        probabilities[:length],
        total,
    )


@compiled
def forward(
    network: NetworkParameters, encoder: EncoderActivations, ids: Array, temperature: float, masks: DropoutMasks
) -> DecoderActivations:
    """Compute a given translation (teacher forcing): most of it for all tokens at once, since they are known."""
    like = network.output_bias
    length, units = len(ids), len(network.bridge_bias)
    gru = empty_activations(length, network.target_embedding.shape[1], units, like)
    from_state = np.empty((1, 3 * units), like.dtype)
    attention = np.empty((length, len(encoder.ids)), like.dtype)
    state_and_context = np.empty((length, units + encoder.states.shape[1]), like.dtype)
    combined = np.empty((length, len(network.combine_bias)), like.dtype)
    probabilities = np.empty((length, len(like)), like.dtype)
    scale, total = like.dtype.type(1 / temperature), 0.0
    for t in range(length):
        gru.inputs[t] = network.target_embedding[ids[t - 1] if t else BOS]
    _apply_mask(masks.target, gru.inputs)
    project_inputs(network.decoder, gru, 0, length)
    for t in range(length):
        gru.before[t] = gru.after[t - 1] if t else encoder.initial_state[0]
        step_forward(network.decoder, gru, t, from_state)
        _attend(encoder, gru.after[t], attention[t], state_and_context[t])
    multiply(network.combine_weights, state_and_context, combined)
    add_to_each(network.combine_bias, combined)
    for t in range(length):
        hyperbolic_tangent(combined[t])
    dropped = combined.copy()
    _apply_mask(masks.combined, dropped)
    multiply(network.output_weights, dropped, probabilities)
    for t in range(length):
        row = probabilities[t]
        for v in range(len(row)):
            row[v] = (row[v] + network.output_bias[v]) * scale
        row[:FIRST_OUTPUT_ID] = 0
        softmax(row[FIRST_OUTPUT_ID:])
        total += math.log(row[ids[t]])
    return DecoderActivations(ids, gru, attention, state_and_context, combined, probabilities, total)


@compiled
def _attend(encoder: EncoderActivations, state: Array, attention: Array, state_and_context: Array) -> None:
    """Fill ``attention`` [source] and ``state_and_context`` [decoder + features] for a decoder state [decoder]."""
    units = len(state)
    multiply(encoder.keys, state.reshape((1, units)), attention.reshape((1, len(attention))))
    softmax(attention)
    state_and_context[:units] = state
    state_and_context[units:] = 0
    context = state_and_context[units:].reshape((1, len(state_and_context) - units))
    add_transposed_product(encoder.states, attention.reshape((1, len(attention))), context)


@compiled
def _token_at_quantile(probabilities: Array, uniform: float) -> int:
    """Return the first token whose cumulative probability exceeds the number, in double precision."""
    total = 0.0
    for v in range(len(probabilities)):
        total += np.float64(probabilities[v])
    threshold, cumulative = uniform * total, 0.0
    for v in range(FIRST_OUTPUT_ID, len(probabilities)):
        cumulative += np.float64(probabilities[v])
        if cumulative > threshold:
            return v
    return len(probabilities) - 1


@compiled
def _most_probable(logits: Array, may_end: bool) -> int:
    best = FIRST_OUTPUT_ID if may_end else FIRST_OUTPUT_ID + 1  # the first output id is the end symbol's
    for v in range(best + 1, len(logits)):
        if logits[v] > logits[best]:
            best = v
    return best


@compiled
def add_translation_gradients(
    network: NetworkParameters,
    encoder: EncoderActivations,
    decoder: DecoderActivations,
    weights: Array,
    entropy: float,
    temperature: float,
    masks: DropoutMasks,
    gradient: NetworkParameters,
) -> None:
    """Add the gradient of -sum_t weights[t] log p(y_t) - entropy * sum_t H(p_t) to ``gradient``."""
    length, units = decoder.gru.after.shape
    one = network.output_bias.dtype.type(1)
    logit_grads = _logit_gradients(decoder, weights, entropy, temperature)
    combined_grads = np.zeros_like(decoder.combined)
    add_transposed_product(network.output_weights, logit_grads, combined_grads)
    dropped = decoder.combined.copy()
    _apply_mask(masks.combined, dropped)
    add_outer_products(logit_grads, dropped, gradient.output_weights)
    add_rows(logit_grads, gradient.output_bias)
    _apply_mask(masks.combined, combined_grads)
    for t in range(length):
        for j in range(combined_grads.shape[1]):
            combined_grads[t, j] *= one - decoder.combined[t, j] * decoder.combined[t, j]
    joint_grads = np.zeros_like(decoder.state_and_context)  # of state and context side by side
    add_transposed_product(network.combine_weights, combined_grads, joint_grads)
    add_outer_products(combined_grads, decoder.state_and_context, gradient.combine_weights)
    add_rows(combined_grads, gradient.combine_bias)
    state_grads, key_grads = np.zeros_like(encoder.states), np.zeros_like(encoder.keys)
    hidden_grads = _attention_gradients(encoder, decoder, joint_grads, state_grads, key_grads)
    initial_grads = _decoder_gradients(network, decoder, hidden_grads, masks, gradient)
    for j in range(units):
        initial_grads[0, j] *= one - encoder.initial_state[0, j] * encoder.initial_state[0, j]
    mean_grads = np.zeros_like(encoder.mean)
    add_transposed_product(network.bridge_weights, initial_grads, mean_grads)
    add_outer_products(initial_grads, encoder.mean, gradient.bridge_weights)
    add_rows(initial_grads, gradient.bridge_bias)
    add_to_each(mean_grads[0] / state_grads.dtype.type(len(state_grads)), state_grads)
    add_transposed_product(network.key_weights, key_grads, state_grads)
    add_outer_products(key_grads, encoder.states, gradient.key_weights)
    _apply_mask(masks.states, state_grads)
    _encoder_gradients(network, encoder, state_grads, masks, gradient)


@compiled
def _logit_gradients(decoder: DecoderActivations, weights: Array, entropy: float, temperature: float) -> Array:
    """Return the gradients of the untempered logits [target, vocabulary]."""
    probabilities = decoder.probabilities
    grads = np.empty_like(probabilities)
    for t in range(len(grads)):
        scale = grads.dtype.type(weights[t] / temperature)
        row, grad = probabilities[t], grads[t]
        for v in range(len(row)):
            grad[v] = scale * row[v]
        grad[decoder.ids[t]] -= scale
        if entropy != 0:
            _add_entropy_gradient(row, entropy / temperature, grad)
    return grads


@compiled
def _add_entropy_gradient(row: Array, scale: float, grad: Array) -> None:
    """Add the gradient of -scale * H(row) by the logits of the row [vocabulary]."""
    row_entropy = 0.0
    for v in range(len(row)):
        if row[v] > 0:
            row_entropy -= row[v] * math.log(row[v])
    for v in range(len(row)):
        if row[v] > 0:
            grad[v] += scale * row[v] * (math.log(row[v]) + row_entropy)


@compiled
def _attention_gradients(
    encoder: EncoderActivations, decoder: DecoderActivations, joint_grads: Array, state_grads: Array, key_grads: Array
) -> Array:
    """Return the gradients of the decoder's states [target, decoder]; add to those of the encoder's states and keys."""
    length, units = decoder.gru.after.shape
    hidden_grads = joint_grads[:, :units].copy()
    context_grads = joint_grads[:, units:].copy()
    score_grads = np.empty_like(decoder.attention)
    multiply(encoder.states, context_grads, score_grads)
    add_outer_products(decoder.attention, context_grads, state_grads)
    for t in range(length):
        row, score_grad = decoder.attention[t], score_grads[t]
        mean = score_grad.dtype.type(0)
        for s in range(len(row)):
            mean += row[s] * score_grad[s]
        for s in range(len(row)):
            score_grad[s] = row[s] * (score_grad[s] - mean)
    add_transposed_product(encoder.keys, score_grads, hidden_grads)
    add_outer_products(score_grads, decoder.gru.after, key_grads)
    return hidden_grads


@compiled
def _decoder_gradients(
    network: NetworkParameters,
    decoder: DecoderActivations,
    hidden_grads: Array,
    masks: DropoutMasks,
    gradient: NetworkParameters,
) -> Array:
    """Backpropagate through time; return the gradient of the initial state [1, decoder]."""
    gru = decoder.gru
    embedding_grads = np.zeros_like(gru.inputs)
    input_grads, recurrent_grads = np.empty_like(gru.gates), np.empty_like(gru.gates)
    state_grad = np.zeros((1, hidden_grads.shape[1]), hidden_grads.dtype)
    for t in range(len(hidden_grads) - 1, -1, -1):
        state_grad[0] += hidden_grads[t]
        step_backward(network.decoder, gru, t, state_grad, input_grads, recurrent_grads)
    add_gradients(network.decoder, gru, input_grads, recurrent_grads, gradient.decoder, embedding_grads)
    _apply_mask(masks.target, embedding_grads)
    for t in range(len(embedding_grads)):
        gradient.target_embedding[decoder.ids[t - 1] if t else BOS] += embedding_grads[t]
    return state_grad


@compiled
def _encoder_gradients(
    network: NetworkParameters,
    encoder: EncoderActivations,
    state_grads: Array,
    masks: DropoutMasks,
    gradient: NetworkParameters,
) -> None:
    """Backpropagate through time in both directions, from the gradients of the encoder's states [source, features]."""
    length, units = encoder.forward.after.shape
    embedding_grads = np.zeros_like(encoder.forward.inputs)
    input_grads, recurrent_grads = np.empty_like(encoder.forward.gates), np.empty_like(encoder.forward.gates)
    state_grad = np.zeros((1, units), state_grads.dtype)
    for t in range(length - 1, -1, -1):
        state_grad[0] += state_grads[t, :units]
        step_backward(network.forward_encoder, encoder.forward, t, state_grad, input_grads, recurrent_grads)
    add_gradients(
        network.forward_encoder,
        encoder.forward,
        input_grads,
        recurrent_grads,
        gradient.forward_encoder,
        embedding_grads,
    )
    state_grad[:] = 0
    for t in range(length):
        state_grad[0] += state_grads[t, units : 2 * units]
        step_backward(network.backward_encoder, encoder.backward, t, state_grad, input_grads, recurrent_grads)
    add_gradients(
        network.backward_encoder,
        encoder.backward,
        input_grads,
        recurrent_grads,
        gradient.backward_encoder,
        embedding_grads,
    )
    if state_grads.shape[1] > 2 * units:
        embedding_grads += state_grads[:, 2 * units :]
    _apply_mask(masks.source, embedding_grads)
    for t in range(length):
        gradient.source_embedding[encoder.ids[t]] += embedding_grads[t]
