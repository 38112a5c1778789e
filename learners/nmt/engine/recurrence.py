"""A gated recurrent unit, forwards and backwards in time, with torch's equations:

    r = logistic(W_r x + U_r h)      z = logistic(W_z x + U_z h)      n = tanh(W_n x + r * (U_n h + b_n))
    h' = (1 - z) * n + z * h

The three parts are stacked, in this order, in one matrix for x and one for h.
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


class Unit(NamedTuple):
    """The parameters of a unit, or their gradients."""

    input_weights: Array  # [3 units, inputs]
    state_weights: Array  # [3 units, units]
    input_bias: Array  # [3 units]
    state_bias: Array


class Run(NamedTuple):
    """What a unit did, by time."""

    inputs: Array  # [time, inputs]
    before: Array  # [time, units]: the state that each step began with
    gates: Array  # [time, 3 units]: r, z and n
    candidate: Array  # [time, units]: U_n h + b_n
    after: Array  # [time, units]: the state that each step ended with


@compiled
def empty_run(length: int, inputs: int, units: int, like: Array) -> Run:
    kind = like.dtype
    return Run(
        np.empty((length, inputs), kind),
        np.empty((length, units), kind),
        np.empty((length, 3 * units), kind),
        np.empty((length, units), kind),
        np.empty((length, units), kind),
    )


@compiled
def project_inputs(unit: Unit, run: Run, first: int, last: int) -> None:
    """What the inputs first <= t < last contribute, into the gates: all at once, since it does not depend on states."""
    gates = run.gates[first:last]
    multiply(unit.input_weights, run.inputs[first:last], gates)
    add_to_each(unit.input_bias, gates)


@compiled
def advance(unit: Unit, run: Run, t: int, fed_back: Array) -> None:
    """One step from ``before[t]`` to ``after[t]``; ``fed_back`` is room for [1, 3 units]."""
    units = run.before.shape[1]
    multiply(unit.state_weights, run.before[t : t + 1], fed_back)
    gates, candidate, before, after = run.gates[t], run.candidate[t], run.before[t], run.after[t]
    for j in range(2 * units):
        gates[j] += fed_back[0, j] + unit.state_bias[j]
    logistic(gates[: 2 * units])
    for j in range(units):
        candidate[j] = fed_back[0, 2 * units + j] + unit.state_bias[2 * units + j]
        gates[2 * units + j] += gates[j] * candidate[j]
    hyperbolic_tangent(gates[2 * units :])
    one = gates.dtype.type(1)
    for j in range(units):
        z = gates[units + j]
        after[j] = (one - z) * gates[2 * units + j] + z * before[j]


@compiled
def retreat(unit: Unit, run: Run, t: int, change: Array, input_changes: Array, state_changes: Array) -> None:
    """One step back: turns ``change`` [1, units] of ``after[t]`` into that of ``before[t]``.

    The changes of what came from the input and from the state are noted in row t of the other two [time, 3 units].
    """
    units = run.before.shape[1]
    gates, candidate, before = run.gates[t], run.candidate[t], run.before[t]
    of_input, of_state, d = input_changes[t], state_changes[t], change[0]
    one = gates.dtype.type(1)
    for j in range(units):
        r, z, n = gates[j], gates[units + j], gates[2 * units + j]
        at_n = d[j] * (one - z) * (one - n * n)
        at_z = d[j] * (before[j] - n) * z * (one - z)
        at_r = at_n * candidate[j] * r * (one - r)
        of_input[j] = of_state[j] = at_r
        of_input[units + j] = of_state[units + j] = at_z
        of_input[2 * units + j] = at_n
        of_state[2 * units + j] = at_n * r
        d[j] *= z
    add_transposed_product(unit.state_weights, state_changes[t : t + 1], change)


@compiled
def add_gradients(
    unit: Unit, run: Run, input_changes: Array, state_changes: Array, gradient: Unit, inputs: Array
) -> None:
    """From the changes that ``retreat`` noted, add to the unit's gradients and to those of its inputs."""
    add_outer_products(input_changes, run.inputs, gradient.input_weights)
    add_outer_products(state_changes, run.before, gradient.state_weights)
    add_rows(input_changes, gradient.input_bias)
    add_rows(state_changes, gradient.state_bias)
    add_transposed_product(unit.input_weights, input_changes, inputs)
