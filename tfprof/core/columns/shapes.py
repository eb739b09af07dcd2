"""Tensor shapes, interned.

A shape is ``None`` (unknown rank) or a tuple of dimensions in which -1 is unknown; ``()`` is a
scalar. tfprof's reports have no scalars: they show rank 0 as ``[1]`` and unknown rank as ``[]``
(``display_dims``).
"""

from __future__ import annotations

from tfprof.core.columns.strings import InternTable

Shape = tuple[int, ...] | None

OutputShapes = tuple[tuple[int, Shape], ...]
"""Outputs of one execution of an op: the output's number, and its shape, if it was recorded."""

_MOST_OUTPUTS = 1 << 16
"""More outputs than any op has, except in damaged runs."""

UNKNOWN_SHAPE = 0
"""Id of the unknown-rank shape in every ``ShapeTable``."""


class ShapeTable:
    """Shapes, and lists of shapes (the outputs of a node), each distinct one held once."""

    __slots__ = ("lists", "shapes")

    def __init__(self) -> None:
        self.shapes: InternTable[Shape] = InternTable([None])
        self.lists: InternTable[tuple[int, ...]] = InternTable()

    def intern(self, shape: Shape) -> int:
        """Id of a shape."""
        return self.shapes.intern(shape)

    def intern_list(self, shapes: list[Shape]) -> int:
        """Id of a list of shapes."""
        return self.lists.intern(tuple(self.shapes.intern(shape) for shape in shapes))

    def list_of(self, list_id: int) -> list[Shape]:
        """Shapes of an interned list; empty for -1 (no list)."""
        if list_id < 0:
            return []
        return [self.shapes[shape_id] for shape_id in self.lists[list_id]]


def display_dims(shape: Shape) -> tuple[int, ...]:
    """Dimensions as tfprof shows them: scalar → (1,), unknown rank → ()."""
    if shape is None:
        return ()
    return shape or (1,)


def is_fully_defined(shape: Shape) -> bool:
    """Whether rank and every dimension are known."""
    return shape is not None and all(dim >= 0 for dim in shape)


def merge_shapes(static: Shape, seen: Shape) -> Shape:
    """The most specific shape that both allow.

    Raises:
        ValueError: They contradict each other.
    """
    if static is None or seen is None:
        return seen if static is None else static
    if len(static) != len(seen):
        raise ValueError(f"shapes {static} and {seen} differ in rank")
    merged = []
    for left, right in zip(static, seen, strict=True):
        if left >= 0 and right >= 0 and left != right:
            raise ValueError(f"shapes {static} and {seen} differ")
        merged.append(max(left, right))
    return tuple(merged)


def merge_outputs(
    static: list[Shape], shown: OutputShapes, *, classic: bool
) -> tuple[list[Shape], bool]:
    """The output shapes of an op from the graph and one execution.

    Args:
        static: The graph's shapes; empty if it has none.
        shown: The execution's shapes.
        classic: Match outputs by their order, and none if their number differs from the graph's,
            as the original does.

    Returns:
        The shapes, and whether the execution contradicts a partly known one of the graph.
    """
    if classic:
        if len(static) != len(shown):
            return static, False
        shown = tuple([(place, shape) for place, (_, shape) in enumerate(shown)])
    elif not static:  # a graph written without shapes
        n_outputs = max([slot + 1 for slot, _ in shown if slot < _MOST_OUTPUTS], default=0)
        static = [None] * n_outputs
    merged, contradicts = list(static), False
    for slot, shape in shown:
        # A kernel may have more outputs than the op.
        if not 0 <= slot < len(merged) or is_fully_defined(merged[slot]):
            continue
        try:
            merged[slot] = merge_shapes(merged[slot], shape)
        except ValueError:
            contradicts = True
    return merged, contradicts
