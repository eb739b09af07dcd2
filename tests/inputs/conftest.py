"""A run, as a session writes it."""

import pytest

GRAPH = 'node { name: "a" op: "MatMul" }\nnode { name: "b" op: "Relu" }\n'
RUN = (
    'step_stats { dev_stats { device: "/cpu:0" node_stats { node_name: "a" '
    "all_start_micros: 5 op_end_rel_micros: 2 all_end_rel_micros: 3 } } }"
)
LOG = 'log_entries { name: "a" float_ops: 3 types: "x" }'


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "graph.pbtxt").write_text(GRAPH)
    (folder / "run_meta_10").write_text(RUN)
    (folder / "run_meta_9").write_text(RUN)
    (folder / "tfprof_log").write_text(LOG)
    return folder
