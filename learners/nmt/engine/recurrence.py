"""A gated recurrent unit, one step forward and one step backward in time, with torch's equations:

    r = logistic(W_r x + U_r h)      z = logistic(W_z x + U_z h)      n = tanh(W_n x + r * (U_n h + b_n))
    h' = (1 - z) * n + z * h

The weights of r, z and n are stacked, in this order, in one matrix for x and one for h.
"""

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
    logistic,
    multiply,
)


class GruParameters(NamedTuple):
    """The parameters of a GRU, or their gradients."""

    input_weights: Array  # [3 units, inputs]
    state_weights: Array  # [3 units, units]
    input_bias: Array  # [3 units]
    state_bias: Array  # [3 units]


class GruActivations(NamedTuple):
    """What a GRU computed at each time step."""

    inputs: Array  # [time, inputs]
    before: Array  # [time, units]: the state before each step
    gates: Array  # [time, 3 units]: r, z and n
    candidate: Array  # [time, units]: U_n h + b_n
    after: Array  # [time, units]: the state after each step


@compiled
def empty_activations(length: int, inputs: int, units: int, like: Array) -> GruActivations:
    """Allocate activations with the data type of ``like``."""
    dtype = like.dtype
    return GruActivations(
        np.empty((length, inputs), dtype),
        np.empty((length, units), dtype),
        np.empty((length, 3 * units), dtype),
        np.empty((length, units), dtype),
        np.empty((length, units), dtype),
    )


@compiled
def project_inputs(gru: GruParameters, activations: GruActivations, first: int, last: int) -> None:
    """Write the inputs' contribution into the gates, for first <= t < last at once: it does not depend on states."""
    gates = activations.gates[first:last]
    multiply(gru.input_weights, activations.inputs[first:last], gates)
    add_to_each(gru.input_bias, gates)


@compiled
def step_forward(gru: GruParameters, activations: GruActivations, t: int, from_state: Array) -> None:
    """Compute ``after[t]`` from ``before[t]``; ``from_state`` [1, 3 units] is scratch space."""
    units = activations.before.shape[1]
    multiply(gru.state_weights, activations.before[t : t + 1], from_state)
    gates, candidate = activations.gates[t], activations.candidate[t]
    before, after = activations.before[t], activations.after[t]
    for j in range(2 * units):
        gates[j] += from_state[0, j] + gru.state_bias[j]
    logistic(gates[: 2 * units])
    for j in range(units):
        candidate[j] = from_state[0, 2 * units + j] + gru.state_bias[2 * units + j]
        gates[2 * units + j] += gates[j] * candidate[j]
    hyperbolic_tangent(gates[2 * units :])
    one = gates.dtype.type(1)
    for j in range(units):
        z = gates[units + j]
        after[j] = (one - z) * gates[2 * units + j] + z * before[j]


@compiled
def step_backward(
    gru: GruParameters,
    activations: GruActivations,
    t: int,
    state_grad: Array,
    input_grads: Array,
    recurrent_grads: Array,
) -> None:
    """Turn the gradient ``state_grad`` [1, units] of ``after[t]`` into that of ``before[t]``.

    Row t of ``input_grads`` and ``recurrent_grads`` [time, 3 units] receives the gradients of W x and of U h.
    """
    units = activations.before.shape[1]
    gates, candidate, before = activations.gates[t], activations.candidate[t], activations.before[t]
    input_grad, recurrent_grad, d = input_grads[t], recurrent_grads[t], state_grad[0]
    one = gates.dtype.type(1)
    for j in range(units):
        r, z, n = gates[j], gates[units + j], gates[2 * units + j]
        at_n = d[j] * (one - z) * (one - n * n)
        at_z = d[j] * (before[j] - n) * z * (one - z)
        at_r = at_n * candidate[j] * r * (one - r)
        input_grad[j] = recurrent_grad[j] = at_r
        input_grad[units + j] = recurrent_grad[units + j] = at_z
        input_grad[2 * units + j] = at_n
        recurrent_grad[2 * units + j] = at_n * r
        d[j] *= z
    add_transposed_product(gru.state_weights, recurrent_grads[t : t + 1], state_grad)


@compiled
def add_gradients(
    gru: GruParameters,
    activations: GruActivations,
    input_grads: Array,
    recurrent_grads: Array,
    gradient: GruParameters,
    inputs: Array,
) -> None:
    """Add to the gradients of the parameters and of the ``inputs`` [time, inputs] what ``step_backward`` computed."""
    add_outer_products(input_grads, activations.inputs, gradient.input_weights)
    add_outer_products(recurrent_grads, activations.before, gradient.state_weights)
    add_rows(input_grads, gradient.input_bias)
    add_rows(recurrent_grads, gradient.state_bias)
    add_transposed_product(gru.input_weights, input_grads, inputs)
