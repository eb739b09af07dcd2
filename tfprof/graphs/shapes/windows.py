"""How windows slide over images: layouts, paddings, and the number of places.

Convolutions and pools share this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div

Size: TypeAlias = "Number | None"
"""A dimension, None if unknown."""


class Layout(NamedTuple):
    """The order of the dimensions of an image.

    Attributes:
        letters: The format: N for images of the batch, C for channels, others for space.
        packed: Channels are split: the last dimension holds four of them, C counts the fours.
    """

    letters: str
    packed: bool = False

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.letters) + self.packed

    @property
    def batch(self) -> int:
        """Place of the images."""
        return self.letters.index("N")

    @property
    def channels(self) -> int:
        """Place of the channels."""
        return self.letters.index("C")

    @property
    def spatial(self) -> tuple[int, ...]:
        """Places of the dimensions that windows slide along."""
        return tuple(place for place, letter in enumerate(self.letters) if letter not in "NC")

    def dims(self, batch: Size, spatial: Sequence[Size], channels: Size) -> tuple[Size, ...]:
        """A shape in this layout; ``channels`` counts all of them."""
        groups = channels
        if self.packed and channels is not None:
            groups = floor_div(channels, 4)
        along = iter(spatial)
        sizes = {"N": batch, "C": groups}
        dims = tuple(sizes[x] if x in sizes else next(along) for x in self.letters)
        return (*dims, 4) if self.packed else dims

    def channel_count(self, dims: Sequence[Size]) -> Size:
        """Number of channels of a shape in this layout."""
        count = dims[self.channels]
        return count * 4 if self.packed and count is not None else count


_LETTERS = frozenset({"NHWC", "NCHW", "HWNC", "HWCN", "NDHWC", "NCDHW", "NWC", "NCW"})


def layout_named(data_format: str) -> Layout:
    """The layout with a name such as ``NCHW_VECT_C``."""
    letters = data_format.removesuffix("_VECT_C")
    if letters not in _LETTERS:
        raise UnknownError(f"the data format {data_format!r} is unknown")
    return Layout(letters, packed=letters != data_format)


def layout_of(op: OpCall, n_spatial: int) -> Layout:
    """The layout that an op works in; channels last if it does not say."""
    layout = layout_named(op.text("data_format", "NHWC" if n_spatial == 2 else "NDHWC"))
    if len(layout.spatial) != n_spatial:
        raise UnknownError(f"the data format {layout.letters} is not for {n_spatial} dimensions")
    return layout


class Windows(NamedTuple):
    """How windows step through an image, one entry for each of its dimensions.

    Attributes:
        strides: Steps from window to window.
        dilations: Steps from tap to tap within a window.
        padding: SAME, VALID, or EXPLICIT with the elements added before and after.
        added: Those elements.
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str
    added: tuple[tuple[int, int], ...]

    def along(self, place: int, size: Size, window: Size) -> Size:
        """How many windows of so many taps there are along a dimension; None if unknown."""
        stride, dilation = self.strides[place], self.dilations[place]
        if size is None:
            return None
        if self.padding == "SAME":
            return ceil_div(size, stride)
        if window is None:
            return None
        return window_count(size + sum(self.added[place]), window, stride, dilation)


def window_count(size: Number, window: Number, stride: Number, dilation: Number) -> Number:
    """How many windows fit, each with ``window`` taps that are ``dilation`` apart."""
    reach = (window - 1) * dilation + 1
    count = floor_div(size - reach, stride) + 1
    if isinstance(count, int) and count < 0:
        raise UnknownError(f"a window that is {reach} wide does not fit into {size}")
    return count


def windows_of(
    op: OpCall, rank: int, dilations: str = "dilations", strides: tuple[int, ...] | None = None
) -> Windows:
    """How the windows of an op step, by its attributes for ``rank`` dimensions, or by strides."""
    strides = op.ints("strides") if strides is None else strides
    spacing = op.ints(dilations) or (1,) * rank
    for name, steps in (("strides", strides), ("dilations", spacing)):
        if len(steps) != rank or min(steps) < 1:
            raise UnknownError(f"the {name} {steps} are not {rank} positive numbers")
    padding = op.text("padding")
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise UnknownError(f"the padding {padding!r} is unknown")
    added = ((0, 0),) * rank
    if padding == "EXPLICIT" or op.ints("padding_list"):
        amounts = op.ints("explicit_paddings") or op.ints("padding_list")
        if len(amounts) != 2 * rank or min(amounts) < 0:
            raise UnknownError(f"the paddings {amounts} are not two sizes for each dimension")
        padding = "EXPLICIT"
        added = tuple(zip(amounts[::2], amounts[1::2], strict=True))
    return Windows(strides, spacing, padding, added)
