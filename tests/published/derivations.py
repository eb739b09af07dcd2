"""What layers cost, derived from their definitions, for tests to add up.

One float operation each: sums, products, quotients, comparisons, exp, tanh, erfc. Derived from
them: ``rsqrt(x) = 1 / sqrt(x)`` is 2; ``sigmoid(x) = 1 / (1 + exp(-x))`` is 4; a softmax is 5 for
each element (maximum, difference, exp, sum, quotient); a gelu as Keras computes it,
``x · 0.5 · erfc(-x · 0.707)``, is 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

RSQRT = 2
SIGMOID = 4
SOFTMAX = 5
GELU = 5


@dataclass(frozen=True)
class Work:
    """Multiply-adds, and the float operations that are in none."""

    macs: int = 0
    other: int = 0

    @property
    def flops(self) -> int:
        return 2 * self.macs + self.other

    def __add__(self, more: Work) -> Work:
        return Work(self.macs + more.macs, self.other + more.other)

    def __mul__(self, times: int) -> Work:
        return Work(self.macs * times, self.other * times)

    __rmul__ = __mul__


def elementwise(n: int, per_element: int = 1) -> Work:
    """So many operations on each of n elements."""
    return Work(0, n * per_element)


def dense(rows: int, inputs: int, outputs: int, bias: bool = True) -> Work:
    """Each of rows · outputs numbers is a sum of ``inputs`` products, and a bias."""
    n = rows * outputs
    return Work(n * inputs, n if bias else 0)


def conv(n_outputs: int, window: tuple[int, ...], depth: int, bias: bool = True) -> Work:
    """Each output is a sum over a window of ``depth`` input channels, and a bias.

    Positions of the padding count: they are multiplied like others.
    """
    return Work(n_outputs * prod(window) * depth, n_outputs if bias else 0)


def conv_transpose(n_inputs: int, window: tuple[int, ...], n_outputs: int, filters: int) -> Work:
    """Each input is multiplied into a window of every filter; a bias for each output."""
    return Work(n_inputs * prod(window) * filters, n_outputs)


def layer_norm(rows: int, width: int) -> Work:
    """Mean and variance of each row, then ``x · r + (b - m · r)`` where ``r`` is ``g / sd``.

    Of each element: the sums of both moments, their squared differences (2); ``r``; ``x · r``;
    ``-m · r``; the sum of these; and the bias. Of each row: the quotients of both means, ``-m``,
    the epsilon, and ``1 / sqrt``.
    """
    n = rows * width
    moments = 2 * (n - rows) + 2 * rows + 2 * n
    return Work(0, moments + rows * (1 + 1 + RSQRT) + 5 * n)


def attention(batch: int, steps: int, width: int, heads: int, head_width: int) -> Work:
    """Multi-head self-attention: three projections, two products, softmax, and a projection."""
    inner = heads * head_width
    scores = batch * heads * steps * steps
    return (
        3 * dense(batch * steps, width, inner)
        + Work(scores * head_width)  # queries by keys
        + elementwise(scores)  # scaled by 1 / sqrt(head_width)
        + elementwise(scores, SOFTMAX)
        + Work(scores * head_width)  # weights by values
        + dense(batch * steps, inner, width)
    )


def encoder_block(
    batch: int, steps: int, width: int, heads: int, hidden: int
) -> Work:  # fmt: skip
    """Pre-norm block: attention and a two-layer perceptron, each with a norm and a residual."""
    rows = batch * steps
    return (
        2 * layer_norm(rows, width)
        + attention(batch, steps, width, heads, width // heads)
        + dense(rows, width, hidden)
        + elementwise(rows * hidden, GELU)
        + dense(rows, hidden, width)
        + 2 * elementwise(rows * width)  # residuals
    )


def lstm_step(rows: int, inputs: int, units: int) -> Work:
    """Four gates from input and state: three sigmoids and a tanh; new cell and output.

    ``z = x W + h U + b``; ``c = f · c + i · g``; ``h = o · tanh(c)``.
    """
    n = rows * units
    gates = Work(rows * 4 * units * (inputs + units), 4 * n + 4 * n)
    return gates + elementwise(n, 3 * SIGMOID + 1 + 3 + 1 + 1)


def gru_step(rows: int, inputs: int, units: int) -> Work:
    """Gates ``z`` and ``r`` and a candidate, the state's bias apart (``reset_after``).

    ``x W + b`` and ``h U + b'`` for three gates; two sigmoids of sums;
    ``tanh(x + r · h)``; ``z · h + (1 - z) · candidate``.
    """
    n = rows * units
    gates = Work(rows * 3 * units * (inputs + units), 2 * 3 * n)
    return gates + elementwise(n, 2 * (1 + SIGMOID) + (1 + 1 + 1) + 4)
