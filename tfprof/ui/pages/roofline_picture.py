"""The picture of the roofline page: ops as points below the roofs of the device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfprof.captures.run.result import ToolResult
from tfprof.core.text.characters import escaped
from tfprof.ui.pages.document import Block

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run


def roofline_picture(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """Ops as points below the roofs of the device, on logarithmic axes."""
    table = result.tables["ops"]
    points = [
        (x, y, row)
        for row in table.to_rows()
        if (x := _positive(row["hbm_operational_intensity"]))
        and (y := _positive(row["measured_flop_rate"]))
    ]
    if not points:
        return []
    names = [escaped(str(row["operation"])) for _, _, row in points]
    limits = [escaped(str(row["bound_by"]) or "unknown limit") for _, _, row in points]
    return [
        {
            "kind": "chart", "id": "roofline", "form": "scatter", "log": True,
            "title": _roofline_title(result),
            "x_label": "float operations for each byte", "y_label": "float operations a second",
            "unit": "gflops_per_s",
            "x": [x for x, _, _ in points],
            "series": [
                {
                    "name": limit,
                    "values": [
                        y if own == limit else None
                        for own, (_, y, _) in zip(limits, points, strict=True)
                    ],
                }
                for limit in sorted(set(limits))
            ],
            "point_names": names,
            "point_details": [
                [
                    f"{float(row['total_self_time_percent'] or 0):.1%} of the time",
                    f"runs: {row['occurrences']}",
                ]
                for _, _, row in points
            ],
            "point_links": [{"page": "hlo-stats", "params": {"find": name}} for name in names],
            "roofs": _roofs(result, [x for x, _, _ in points]),
        }
    ]  # fmt: skip


def _roofline_title(result: ToolResult) -> str:
    if not result.data.get("roofs", {}).get("Compute"):
        return "Ops by rate and intensity; the roofs are not known"
    return f"Ops below the roofs of {escaped(str(result.data.get('device') or 'the device'))}"


def _positive(value: Any) -> float:
    """A value that logarithmic axes can show; else 0."""
    return float(value) if isinstance(value, (int, float)) and value > 0 else 0.0


def _roofs(result: ToolResult, xs: list[float]) -> list[dict[str, Any]]:
    """Roofs from the left end of the picture to the right, with a bend at the arithmetic limit."""
    ceiling = result.data.get("roofs", {}).get("Compute", 0.0)
    if not ceiling:
        return []
    gib, left, right = 1.073741824, min(xs) / 2, max(xs) * 2
    roofs = []
    for name, gib_per_s in result.data["roofs"].items():
        if name == "Compute" or not gib_per_s:
            continue
        corner = ceiling / (gib_per_s * gib)
        at = sorted({left, max(right, corner * 2), corner} if corner > left else {left, right})
        heights = [min(ceiling, gib_per_s * gib * x) for x in at]
        roofs.append({"name": escaped(f"{name} and arithmetic"), "x": at, "y": heights})
    return roofs
