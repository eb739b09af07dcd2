"""Op logs: facts about a graph's ops besides its nodes, as TensorFlow's ``tfprof_logger``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.core.wire import messages as pb
from tfprof.errors import InputError
from tfprof.files.disk import write_file
from tfprof.graphs.live.live_graph import default_graph
from tfprof.options.parse import is_classic
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.session.inputs import GraphSource
from tfprof.profiles.write.op_log import profile_to_op_log

if TYPE_CHECKING:
    from tfprof.files.open import Source


def merge_default_with_oplog(
    graph: Any,
    op_log: Source | None = None,
    run_meta: Source | None = None,
    add_trace: bool = True,
    add_trainable_var: bool = True,
    *,
    classic: bool | None = None,
) -> pb.OpLogProto:
    """Types, float operations and call stacks of a graph's ops, with the entries of an op log.

    The user's graph and op log do not change (TensorFlow changes both). Strings of call stacks get
    new ids in the result, independent of those of the given op log.

    Args:
        graph: As for ``Profiler``.
        op_log: Types, float operations and call stacks to add; they win over those of the graph.
            Entries for ops that the graph does not have are kept.
        run_meta: A RunMetadata whose run-time shapes make more ops countable.
        add_trace: Add call stacks of a live graph.
        add_trainable_var: Mark the ops that hold trainable variables.
        classic: As for ``Profiler``.

    Raises:
        InputError: An input is unusable.
    """
    profile = Profile(classic=is_classic(classic))
    graph = default_graph() if graph is None else graph
    source = GraphSource(profile, graph, op_log, one_shot=True, trainable=add_trainable_var)
    if run_meta is not None:
        source.add_run(0, run_meta)
    if add_trace:
        source.add_traces()
    source.count_flops()
    return profile_to_op_log(profile, source.waiting)


def write_op_log(
    graph: Any,
    log_dir: str | os.PathLike[str],
    op_log: Source | None = None,
    run_meta: Source | None = None,
    add_trace: bool = True,
    *,
    classic: bool | None = None,
) -> None:
    """Write the result of ``merge_default_with_oplog`` to ``<log_dir>/tfprof_log``.

    The file is an OpLogProto, for use with the graph elsewhere; an existing one is overwritten.
    Arguments as for ``merge_default_with_oplog``.

    Raises:
        InputError: An input is unusable, the folder does not exist, or the file cannot be
            written.
    """
    log = merge_default_with_oplog(graph, op_log, run_meta, add_trace, classic=classic)
    folder = Path(log_dir)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder. Make the folder first")
    data = log.SerializeToString(deterministic=True)
    write_file(folder / "tfprof_log", [data], overwrite=True)
