"""Views as pictures: ``graphviz.Digraph``, DOT text, SVG, PDF or PNG.

A view becomes a ``Drawing``, which is plain data (``operations``, ``name_scopes``, ``calls``);
that becomes DOT (``dot``), and that a file (``files``).
"""

from __future__ import annotations

from tfprof.views.show.drawing.files import DrawnFile, draw_to_file, render_dot_file
from tfprof.views.show.drawing.views import MAX_NODES, view_to_graphviz
from tfprof.views.show.drawing.weights import ATTRIBUTES

__all__ = [
    "ATTRIBUTES",
    "MAX_NODES",
    "DrawnFile",
    "draw_to_file",
    "render_dot_file",
    "view_to_graphviz",
]
