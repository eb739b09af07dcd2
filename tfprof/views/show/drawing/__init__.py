"""Views as pictures: ``graphviz.Digraph``, DOT text, SVG, PDF or PNG.

A view becomes a ``Drawing``, which is plain data (``views``); that becomes DOT, and that a file
(``files``).
"""
