"""The network of ``learners.nmt.gru`` for one sentence, by hand: draw a translation, and add up its gradients."""

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
from learners.nmt.engine.recurrence import Run, Unit, add_gradients, advance, empty_run, project_inputs, retreat
from learners.nmt.vocabulary import BOS, EOS, NEVER_WRITTEN


class Network(NamedTuple):
    """The parameters, or their gradients; tied ones are the same memory."""

    source_embedding: Array
    target_embedding: Array
    forwards: Unit  # the encoder's two directions
    backwards: Unit
    bridge_weights: Array
    bridge_bias: Array
    decoder: Unit
    key_weights: Array
    combine_weights: Array
    combine_bias: Array
    output_weights: Array
    output_bias: Array


class Masks(NamedTuple):
    """What dropout keeps, as factors: 0, or 1 / (1 - p); without any rows, everything is kept as it is."""

    source: Array  # [source, embedding]
    states: Array  # [source, seen]
    target: Array  # [target, embedding]
    combined: Array  # [target, embedding]


class Encoded(NamedTuple):
    """What was made of a source."""

    ids: Array
    forwards: Run
    backwards: Run
    states: Array  # [source, seen]: both directions' and, in a lexical model, the inputs
    keys: Array  # [source, decoder]
    mean: Array  # [1, seen]
    start: Array  # [1, decoder]


class Decoded(NamedTuple):
    """A translation as it was drawn."""

    ids: Array
    run: Run
    attention: Array  # [target, source]
    both: Array  # [target, decoder + seen]: the state beside the context
    combined: Array  # [target, embedding]
    probabilities: Array  # [target, vocabulary], tempered
    log_probability: float


@compiled
def _drop(mask: Array, rows: Array) -> None:
    for t in range(len(mask)):
        for j in range(mask.shape[1]):
            rows[t, j] *= mask[t, j]


@compiled
def encode(network: Network, ids: Array, masks: Masks) -> Encoded:
    units = network.forwards.state_weights.shape[1]
    length, width = len(ids), network.source_embedding.shape[1]
    like = network.output_bias
    forwards = empty_run(length, width, units, like)
    blank = empty_run(length, 0, units, like)
    backwards = Run(forwards.inputs, blank.before, blank.gates, blank.candidate, blank.after)
    states = np.empty((length, network.key_weights.shape[1]), like.dtype)
    fed_back = np.empty((1, 3 * units), like.dtype)
    for t in range(length):
        forwards.inputs[t] = network.source_embedding[ids[t]]
    _drop(masks.source, forwards.inputs)
    project_inputs(network.forwards, forwards, 0, length)
    project_inputs(network.backwards, backwards, 0, length)
    last = np.zeros(units, like.dtype)
    for t in range(length):
        forwards.before[t] = last
        advance(network.forwards, forwards, t, fed_back)
        last = states[t, :units] = forwards.after[t]
    last = np.zeros(units, like.dtype)
    for t in range(length - 1, -1, -1):
        backwards.before[t] = last
        advance(network.backwards, backwards, t, fed_back)
        last = states[t, units : 2 * units] = backwards.after[t]
    if states.shape[1] > 2 * units:
        states[:, 2 * units :] = forwards.inputs
    _drop(masks.states, states)
    keys = np.empty((length, len(network.key_weights)), like.dtype)
    multiply(network.key_weights, states, keys)
    mean = np.zeros((1, states.shape[1]), like.dtype)
    add_rows(states, mean[0])
    mean /= like.dtype.type(length)
    start = np.empty((1, len(network.bridge_bias)), like.dtype)
    multiply(network.bridge_weights, mean, start)
    start[0] += network.bridge_bias
    hyperbolic_tangent(start[0])
    return Encoded(ids, forwards, backwards, states, keys, mean, start)


@compiled
def decode(network: Network, encoded: Encoded, temperature: float, uniforms: Array, bound: int) -> Decoded:
    """Draw with the uniform numbers; greedily, and at least one token, if there are none."""
    like = network.output_bias
    units, width = len(network.bridge_bias), len(network.combine_bias)
    ids = np.empty(bound, np.int64)
    run = empty_run(bound, network.target_embedding.shape[1], units, like)
    fed_back = np.empty((1, 3 * units), like.dtype)
    attention = np.empty((bound, len(encoded.ids)), like.dtype)
    both = np.empty((bound, units + encoded.states.shape[1]), like.dtype)
    combined = np.empty((bound, width), like.dtype)
    probabilities = np.empty((bound, len(like)), like.dtype)
    scale = like.dtype.type(1 / temperature)
    total, length, token = 0.0, 0, BOS
    while length < bound and token != EOS:
        t = length
        run.inputs[t] = network.target_embedding[token]
        run.before[t] = run.after[t - 1] if t else encoded.start[0]
        project_inputs(network.decoder, run, t, t + 1)
        advance(network.decoder, run, t, fed_back)
        _attend(encoded, run.after[t], attention[t], both[t])
        multiply(network.combine_weights, both[t : t + 1], combined[t : t + 1])
        combined[t] += network.combine_bias
        hyperbolic_tangent(combined[t])
        row = probabilities[t]
        multiply(network.output_weights, combined[t : t + 1], probabilities[t : t + 1])
        for v in range(len(row)):
            row[v] = (row[v] + network.output_bias[v]) * scale
        row[:NEVER_WRITTEN] = 0
        possible = row[NEVER_WRITTEN:]
        if len(uniforms):
            spread = softmax(possible)
            token = _drawn(row, uniforms[t])
            total += math.log(row[token])
        else:
            token = _most_probable(row, t > 0)
            chosen = row[token]
            spread = softmax(possible)
            total += chosen - spread
        ids[t] = token
        length += 1
    run = Run(run.inputs[:length], run.before[:length], run.gates[:length], run.candidate[:length], run.after[:length])
    return Decoded(
        ids[:length], run, attention[:length], both[:length], combined[:length], probabilities[:length], total
    )


@compiled
def follow(network: Network, encoded: Encoded, ids: Array, temperature: float, masks: Masks) -> Decoded:
    """Go through a given translation: all of it is known, so most is computed for all its tokens at once."""
    like = network.output_bias
    length, units = len(ids), len(network.bridge_bias)
    run = empty_run(length, network.target_embedding.shape[1], units, like)
    fed_back = np.empty((1, 3 * units), like.dtype)
    attention = np.empty((length, len(encoded.ids)), like.dtype)
    both = np.empty((length, units + encoded.states.shape[1]), like.dtype)
    combined = np.empty((length, len(network.combine_bias)), like.dtype)
    probabilities = np.empty((length, len(like)), like.dtype)
    scale, total = like.dtype.type(1 / temperature), 0.0
    for t in range(length):
        run.inputs[t] = network.target_embedding[ids[t - 1] if t else BOS]
    _drop(masks.target, run.inputs)
    project_inputs(network.decoder, run, 0, length)
    for t in range(length):
        run.before[t] = run.after[t - 1] if t else encoded.start[0]
        advance(network.decoder, run, t, fed_back)
        _attend(encoded, run.after[t], attention[t], both[t])
    multiply(network.combine_weights, both, combined)
    add_to_each(network.combine_bias, combined)
    for t in range(length):
        hyperbolic_tangent(combined[t])
    dropped = combined.copy()
    _drop(masks.combined, dropped)
    multiply(network.output_weights, dropped, probabilities)
    for t in range(length):
        row = probabilities[t]
        for v in range(len(row)):
            row[v] = (row[v] + network.output_bias[v]) * scale
        row[:NEVER_WRITTEN] = 0
        softmax(row[NEVER_WRITTEN:])
        total += math.log(row[ids[t]])
    return Decoded(ids, run, attention, both, combined, probabilities, total)


@compiled
def _attend(encoded: Encoded, state: Array, attention: Array, both: Array) -> None:
    units = len(state)
    multiply(encoded.keys, state.reshape((1, units)), attention.reshape((1, len(attention))))
    softmax(attention)
    both[:units] = state
    both[units:] = 0
    context = both[units:].reshape((1, len(both) - units))
    add_transposed_product(encoded.states, attention.reshape((1, len(attention))), context)


@compiled
def _drawn(probabilities: Array, uniform: float) -> int:
    """The first token whose cumulative probability exceeds the number, in double precision."""
    total = 0.0
    for v in range(len(probabilities)):
        total += np.float64(probabilities[v])
    wanted, cumulative = uniform * total, 0.0
    for v in range(NEVER_WRITTEN, len(probabilities)):
        cumulative += np.float64(probabilities[v])
        if cumulative > wanted:
            return v
    return len(probabilities) - 1


@compiled
def _most_probable(logits: Array, may_end: bool) -> int:
    best = NEVER_WRITTEN + 1 if not may_end else NEVER_WRITTEN
    for v in range(best + 1, len(logits)):
        if logits[v] > logits[best]:
            best = v
    return best


@compiled
def add_translation_gradients(
    network: Network,
    encoded: Encoded,
    decoded: Decoded,
    weights: Array,
    entropy: float,
    temperature: float,
    masks: Masks,
    gradient: Network,
) -> None:
    """Add the gradient of -sum_t weights[t] log p(y_t) - entropy * sum_t H(p_t)."""
    length, units = decoded.run.after.shape
    one = network.output_bias.dtype.type(1)
    logits = _logit_changes(decoded, weights, entropy, temperature)
    combined = np.zeros_like(decoded.combined)
    add_transposed_product(network.output_weights, logits, combined)
    dropped = decoded.combined.copy()
    _drop(masks.combined, dropped)
    add_outer_products(logits, dropped, gradient.output_weights)
    add_rows(logits, gradient.output_bias)
    _drop(masks.combined, combined)
    for t in range(length):
        for j in range(combined.shape[1]):
            combined[t, j] *= one - decoded.combined[t, j] * decoded.combined[t, j]
    both = np.zeros_like(decoded.both)
    add_transposed_product(network.combine_weights, combined, both)
    add_outer_products(combined, decoded.both, gradient.combine_weights)
    add_rows(combined, gradient.combine_bias)
    states, keys = np.zeros_like(encoded.states), np.zeros_like(encoded.keys)
    hidden = _attention_changes(encoded, decoded, both, states, keys)
    start = _decoder_gradients(network, decoded, hidden, masks, gradient)
    for j in range(units):
        start[0, j] *= one - encoded.start[0, j] * encoded.start[0, j]
    mean = np.zeros_like(encoded.mean)
    add_transposed_product(network.bridge_weights, start, mean)
    add_outer_products(start, encoded.mean, gradient.bridge_weights)
    add_rows(start, gradient.bridge_bias)
    add_to_each(mean[0] / states.dtype.type(len(states)), states)
    add_transposed_product(network.key_weights, keys, states)
    add_outer_products(keys, encoded.states, gradient.key_weights)
    _drop(masks.states, states)
    _encoder_gradients(network, encoded, states, masks, gradient)


@compiled
def _logit_changes(decoded: Decoded, weights: Array, entropy: float, temperature: float) -> Array:
    probabilities = decoded.probabilities
    changes = np.empty_like(probabilities)
    for t in range(len(changes)):
        scale = changes.dtype.type(weights[t] / temperature)
        row, change = probabilities[t], changes[t]
        for v in range(len(row)):
            change[v] = scale * row[v]
        change[decoded.ids[t]] -= scale
        if entropy != 0:
            _add_entropy_changes(row, entropy / temperature, change)
    return changes


@compiled
def _add_entropy_changes(row: Array, scale: float, change: Array) -> None:
    spread = 0.0
    for v in range(len(row)):
        if row[v] > 0:
            spread -= row[v] * math.log(row[v])
    for v in range(len(row)):
        if row[v] > 0:
            change[v] += scale * row[v] * (math.log(row[v]) + spread)


@compiled
def _attention_changes(encoded: Encoded, decoded: Decoded, both: Array, states: Array, keys: Array) -> Array:
    """Changes of the decoder's states; those of the encoder's states and keys are added to."""
    length, units = decoded.run.after.shape
    hidden = both[:, :units].copy()
    contexts = both[:, units:].copy()
    scores = np.empty_like(decoded.attention)
    multiply(encoded.states, contexts, scores)
    add_outer_products(decoded.attention, contexts, states)
    for t in range(length):
        row, score = decoded.attention[t], scores[t]
        mean = score.dtype.type(0)
        for s in range(len(row)):
            mean += row[s] * score[s]
        for s in range(len(row)):
            score[s] = row[s] * (score[s] - mean)
    add_transposed_product(encoded.keys, scores, hidden)
    add_outer_products(scores, decoded.run.after, keys)
    return hidden


@compiled
def _decoder_gradients(network: Network, decoded: Decoded, hidden: Array, masks: Masks, gradient: Network) -> Array:
    """Through time, to the change of the first state [1, decoder]."""
    run = decoded.run
    inputs, of_input, of_state = np.zeros_like(run.inputs), np.empty_like(run.gates), np.empty_like(run.gates)
    change = np.zeros((1, hidden.shape[1]), hidden.dtype)
    for t in range(len(hidden) - 1, -1, -1):
        change[0] += hidden[t]
        retreat(network.decoder, run, t, change, of_input, of_state)
    add_gradients(network.decoder, run, of_input, of_state, gradient.decoder, inputs)
    _drop(masks.target, inputs)
    for t in range(len(inputs)):
        gradient.target_embedding[decoded.ids[t - 1] if t else BOS] += inputs[t]
    return change


@compiled
def _encoder_gradients(network: Network, encoded: Encoded, states: Array, masks: Masks, gradient: Network) -> None:
    length, units = encoded.forwards.after.shape
    inputs = np.zeros_like(encoded.forwards.inputs)
    of_input, of_state = np.empty_like(encoded.forwards.gates), np.empty_like(encoded.forwards.gates)
    change = np.zeros((1, units), states.dtype)
    for t in range(length - 1, -1, -1):
        change[0] += states[t, :units]
        retreat(network.forwards, encoded.forwards, t, change, of_input, of_state)
    add_gradients(network.forwards, encoded.forwards, of_input, of_state, gradient.forwards, inputs)
    change[:] = 0
    for t in range(length):
        change[0] += states[t, units : 2 * units]
        retreat(network.backwards, encoded.backwards, t, change, of_input, of_state)
    add_gradients(network.backwards, encoded.backwards, of_input, of_state, gradient.backwards, inputs)
    if states.shape[1] > 2 * units:
        inputs += states[:, 2 * units :]
    _drop(masks.source, inputs)
    for t in range(length):
        gradient.source_embedding[encoded.ids[t]] += inputs[t]
