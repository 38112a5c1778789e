"""Small dense linear algebra that the compiler vectorises, for float32 and, in tests, float64.

Matrices are [rows, columns] as torch stores them, sequences are [time, features]. Loops take four rows at a time, so
that every number that is loaded is used four times: then only memory bandwidth limits the speed.
"""

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

Array = npt.NDArray[Any]

# Sums may be reordered, or no loop with a sum could be vectorised. But NaN stays NaN: a diverged model must be noticed.
FASTMATH_FLAGS = {"reassoc", "contract", "nsz", "arcp", "afn"}
compiled = numba.njit(cache=True, fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")


@compiled
def multiply(weights: Array, inputs: Array, outputs: Array) -> None:
    """outputs[t] = weights @ inputs[t]"""
    rows, columns = weights.shape
    blocked = rows // 4 * 4
    for i in range(0, blocked, 4):
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for t in range(len(inputs)):
            x = inputs[t]
            a = b = c = d = weights.dtype.type(0)
            for j in range(columns):
                a += w0[j] * x[j]
                b += w1[j] * x[j]
                c += w2[j] * x[j]
                d += w3[j] * x[j]
            outputs[t, i], outputs[t, i + 1], outputs[t, i + 2], outputs[t, i + 3] = a, b, c, d
    for i in range(blocked, rows):
        for t in range(len(inputs)):
            a = weights.dtype.type(0)
            for j in range(columns):
                a += weights[i, j] * inputs[t, j]
            outputs[t, i] = a


@compiled
def add_transposed_product(weights: Array, changes: Array, inputs: Array) -> None:
    """inputs[t] += weights.T @ changes[t]"""
    rows, columns = weights.shape
    blocked = rows // 4 * 4
    for i in range(0, blocked, 4):
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for t in range(len(changes)):
            x = inputs[t]
            a, b, c, d = changes[t, i], changes[t, i + 1], changes[t, i + 2], changes[t, i + 3]
            for j in range(columns):
                x[j] += a * w0[j] + b * w1[j] + c * w2[j] + d * w3[j]
    for i in range(blocked, rows):
        for t in range(len(changes)):
            for j in range(columns):
                inputs[t, j] += changes[t, i] * weights[i, j]


@compiled
def add_outer_products(changes: Array, inputs: Array, weights: Array) -> None:
    """weights += sum_t outer(changes[t], inputs[t])"""
    rows, columns = weights.shape
    length = len(changes)
    blocked = length // 4 * 4
    for i in range(rows):
        w = weights[i]
        for t in range(0, blocked, 4):
            x0, x1, x2, x3 = inputs[t], inputs[t + 1], inputs[t + 2], inputs[t + 3]
            a, b, c, d = changes[t, i], changes[t + 1, i], changes[t + 2, i], changes[t + 3, i]
            for j in range(columns):
                w[j] += a * x0[j] + b * x1[j] + c * x2[j] + d * x3[j]
        for t in range(blocked, length):
            a = changes[t, i]
            for j in range(columns):
                w[j] += a * inputs[t, j]


@compiled
def add_rows(rows: Array, total: Array) -> None:
    """total += sum_t rows[t]"""
    for t in range(len(rows)):
        for j in range(len(total)):
            total[j] += rows[t, j]


@compiled
def add_to_each(vector: Array, rows: Array) -> None:
    """rows[t] += vector"""
    for t in range(len(rows)):
        for j in range(len(vector)):
            rows[t, j] += vector[j]


# A polynomial for 2**x on [-1, 1]: nine Chebyshev coefficients are exact to float32.
EXP2_COEFFICIENTS = tuple(
    float(coefficient)
    for coefficient in np.polynomial.Chebyshev.interpolate(np.exp2, 8).convert(kind=np.polynomial.Polynomial).coef
)
LOG2_E = math.log2(math.e)


@intrinsic
def _float_of_bits(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001 (numba's signature)
    """Return the float32 with these bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


def exponential(x: Any) -> Any:
    """Return e**x; for float32 without branches or calls, so that loops over it are vectorised."""
    raise NotImplementedError("only compiled code calls this")


@overload(exponential, inline="always")
def _exponential(x: Any) -> Any:
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = (np.float32(coefficient) for coefficient in EXP2_COEFFICIENTS)
    log2_e, lowest, highest = np.float32(LOG2_E), np.float32(-126), np.float32(126)

    def exact(x: Any) -> Any:
        return math.exp(x)

    def fast(x: Any) -> Any:
        y = min(max(x * log2_e, lowest), highest)
        whole = np.int32(y)
        f = y - np.float32(whole)
        power = c0 + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * (c6 + f * (c7 + f * c8)))))))
        return power * _float_of_bits((whole + np.int32(127)) << np.int32(23))  # type: ignore[call-arg]

    return fast if x == types.float32 else exact


@compiled
def logistic(x: Array) -> None:
    """Apply the logistic function in place."""
    one = x.dtype.type(1)
    for j in range(len(x)):
        x[j] = one / (one + exponential(-x[j]))


@compiled
def hyperbolic_tangent(x: Array) -> None:
    """Apply tanh in place."""
    one, two = x.dtype.type(1), x.dtype.type(2)
    for j in range(len(x)):
        x[j] = one - two / (exponential(two * x[j]) + one)


@compiled
def softmax(x: Array) -> Any:
    """Apply softmax in place; return the logarithm of the sum of exponentials."""
    highest = x[0]
    for j in range(len(x)):
        highest = max(highest, x[j])
    total = x.dtype.type(0)
    for j in range(len(x)):
        x[j] = exponential(x[j] - highest)
        total += x[j]
    scale = x.dtype.type(1) / total
    for j in range(len(x)):
        x[j] *= scale
    return highest + math.log(total)
