"""Op logs and pprof profiles of a graph and its runs, as TensorFlow writes them.

Op logs are facts about a graph's ops besides its nodes (``tfprof_logger``).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, InputError, TfprofWarning
from tfprof.files.disk import write_file
from tfprof.files.local_folder import local_folder
from tfprof.files.open import open_message
from tfprof.files.sniff import Format
from tfprof.graphs.live.live_graph import call_stacks, default_graph
from tfprof.options.parse import is_classic
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.session.inputs import GraphSource
from tfprof.profiles.write.device_pprof import device_profiles, encode, file_names
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
    source.flops.write()
    return profile_to_op_log(profile, source.log.waiting)


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


@overload
def pprof_profile(
    graph: Any,
    run_metadata: Source,
    output_dir: None = None,
    *,
    op_log: Source | None = None,
    classic: bool | None = None,
) -> dict[str, pb.Profile]: ...


@overload
def pprof_profile(
    graph: Any,
    run_metadata: Source,
    output_dir: str | os.PathLike[str],
    *,
    op_log: Source | None = None,
    classic: bool | None = None,
) -> list[str]: ...


def pprof_profile(
    graph: Any,
    run_metadata: Source,
    output_dir: str | os.PathLike[str] | None = None,
    *,
    op_log: Source | None = None,
    classic: bool | None = None,
) -> dict[str, pb.Profile] | list[str]:
    """A run as pprof profiles, one for each device: nodes by the Python lines that made them.

    Args:
        graph: As for ``Profiler``, or any object with ``get_operations()``, whose elements have a
            name, a type and a traceback; call stacks come from these or from ``op_log``.
        run_metadata: A RunMetadata as message, bytes or path.
        output_dir: Folder to write ``<device>_<YYYYmmddHHMMSS>.pb.gz`` into; made if missing.
        op_log: As for ``Profiler``.
        classic: As for ``Profiler``.

    Returns:
        ``Profile`` messages by device name; with a folder, the names of the files.

    Raises:
        EmptyProfileError: No device has anything to show.
        InputError: An input is unusable, or a file cannot be written.
    """
    classic = is_classic(classic)
    profile = Profile(classic=classic)
    operations = getattr(graph, "get_operations", None)
    if operations is not None and (classic or not hasattr(graph, "as_graph_def")):
        _add_operations(profile, operations(), op_log)
    else:
        GraphSource(profile, graph, op_log, one_shot=True).add_traces()
    run = open_message(run_metadata, (Format.RUN_METADATA,), argument="run_metadata").message
    profiles = device_profiles(run, profile, classic=classic)
    if not profiles:
        message = (
            "run_metadata: no device has anything to show; pass "
            "RunOptions(trace_level=FULL_TRACE) to Session.run"
        )
        if not classic:
            raise EmptyProfileError(message)
        warnings.warn(message, TfprofWarning, stacklevel=2)
    return profiles if output_dir is None else _write(profiles, local_folder(output_dir))


def _add_operations(profile: Profile, operations: Sequence[Any], op_log: Source | None) -> None:
    """Names, types and call stacks, which are all that the original reads of a graph."""
    nodes = [pb.NodeDef(name=operation.name, op=operation.type) for operation in operations]
    GraphSource(profile, pb.GraphDef(node=nodes), op_log, one_shot=True)
    profile.add_op_log(call_stacks(operations))


def _write(profiles: dict[str, pb.Profile], folder: Path) -> list[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{folder}: cannot be written: {reason}") from error
    names = file_names(profiles, time.strftime("%Y%m%d%H%M%S"))
    files = [str(folder / name) for name in names]
    for file, made in zip(files, profiles.values(), strict=True):
        write_file(file, [encode(made)], overwrite=True)
    return files
