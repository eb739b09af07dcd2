"""``tfprof summary``."""

from __future__ import annotations

from typing import Any

from tfprof.cli.costs import (
    CostQuestion,
    cost_options,
    cost_result_options,
    counted,
    path_argument,
    shown_options,
)
from tfprof.cli.options import Command, from_params
from tfprof.cli.results import ResultChoice, as_text
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import write_page


def run(**params: Any) -> None:
    """Read and count a program, and write its layers."""
    question, result = from_params(CostQuestion, params), from_params(ResultChoice, params)
    target = result.target()
    with warnings_as_notes():
        summary = counted(question).summary(for_people=result.format == "text")
        if result.format == "json":
            text = summary.to_json()
        elif result.format == "csv":
            text = summary.to_csv()
        elif result.format == "html":
            from tfprof.ui.pages.cost_pages import summary_page

            write_page(summary_page(summary), question.title, target)
            return
        else:
            from tfprof.graphs.reports.summary_text import SummaryTable

            text = as_text([SummaryTable(summary, target.glyphs())], target)
    target.write(text)


command = Command(
    "summary",
    callback=run,
    is_cached=True,
    params=[
        path_argument(),
        *cost_options(),
        *shown_options(),
        *cost_result_options(),
    ],
    help="Show a GraphDef, MetaGraphDef or SavedModel (file or folder, binary or text, also .gz, "
    ".xz or .zst) layer by layer, without running it and without TensorFlow: output shape, "
    "parameters, float operations, and bytes of weights and activations. Layers are name scopes; "
    "in Python, tfprof.summary(model) shows the layers of a Keras model.",
    examples=[
        "tfprof summary --demo --depth 2",
        "tfprof summary saved_model/ --batch 8 --device a100 --format html -o summary.html",
    ],
)
