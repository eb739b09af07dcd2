"""The original's names for rows other than ops (``tfprof_constants.h``)."""

ROOT_NAME = "_TFProfRoot"
GRAPH_ROOT_TYPE = "_TFGraphParent"
"""Type of the graph view's root."""
SCOPE_PARENT_TYPE = "_kTFScopeParent"
"""Type of a scope that is not an op itself."""
