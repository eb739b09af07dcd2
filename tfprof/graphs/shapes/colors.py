"""Shapes of ops on images: colors, and boxes in images."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number, minimum
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import size
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()


@RULES.of("CombinedNonMaxSuppression")
def _combined(op: OpCall) -> list[PartialShape]:
    """Boxes, scores, classes, and how many of them are valid, for each image."""
    batch, _, _, _ = op.shape_of_rank(0, 4)
    kept = size(op, 3)
    if op.flag("pad_per_class"):
        kept = _fewest(kept, op)
    return [(batch, kept, 4), (batch, kept), (batch, kept), (batch,)]


def _fewest(kept: Number | None, op: OpCall) -> Number | None:
    """Results are padded to the number that all classes may keep, if that is less."""
    per_class, classes = size(op, 2), op.shape_of_rank(1, 3)[2]
    return None if kept is None or per_class is None else minimum(kept, per_class * classes)


@RULES.of("GenerateBoundingBoxProposals")
def _proposals(op: OpCall) -> list[PartialShape]:
    batch, kept = op.shape_of_rank(0, 4)[0], op.integer("post_nms_topn", 300)
    return [(batch, kept, 4), (batch, kept)]


RULES.of(
    """
    AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV DrawBoundingBoxes
    DrawBoundingBoxesV2
    """
)(lambda op: [op.shape()])
RULES.of("NonMaxSuppressionWithOverlaps")(lambda op: [(None,)])
