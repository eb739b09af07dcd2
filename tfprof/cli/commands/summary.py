"""``tfprof summary``."""

from __future__ import annotations

from typing import Any

from tfprof.cli.costs import (
    cost_options,
    cost_result_options,
    counted,
    path_argument,
    shown_options,
    source_of,
)
from tfprof.cli.options import Command
from tfprof.cli.results import as_text, target_of
from tfprof.cli.view import warnings_as_notes


def run(**given: Any) -> None:
    """Read, count, write."""
    target = target_of(given)
    with warnings_as_notes():
        summary = counted(given).summary()
        if given["format"] == "json":
            text = summary.to_json()
        elif given["format"] == "csv":
            text = summary.to_csv()
        elif given["format"] == "html":
            from tfprof.graphs.show.summary_html import summary_page

            text = summary_page(summary, source_of(given))
        else:
            from tfprof.graphs.show.summary import SummaryTable

            text = as_text([SummaryTable(summary, target.glyphs())], target)
    target.write(text)


command = Command(
    "summary",
    callback=run,
    params=[
        path_argument(),
        *cost_options(),
        *shown_options(),
        *cost_result_options(),
    ],
    help="Show a GraphDef, MetaGraphDef or SavedModel (file or folder, binary or text, also .gz, "
    ".xz or .zst) layer by layer, without running it and without TensorFlow: output shape, "
    "parameters, float operations, and bytes of weights and activations. Layers are name scopes; "
    "in Python, tfprof.summary(model) knows the layers of a Keras model.",
    examples=[
        "tfprof summary --demo --depth 2",
        "tfprof summary saved_model/ --batch 8 --device a100 --format html -o summary.html",
    ],
)
