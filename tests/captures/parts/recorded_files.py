"""Recorded captures by name, and questions to their parts."""

from tests.captures.tools.oracle import folder
from tfprof.captures.facts.device_op_db import compiled_ops, device_ops
from tfprof.captures.facts.environment import planes
from tfprof.captures.facts.host_op_db import host_ops
from tfprof.captures.parts.condense import HostFile
from tfprof.captures.parts.part import Wanted
from tfprof.captures.tools.gpu_kernels import host_kernels
from tfprof.files.run_folder import host_name

WANTED = Wanted(
    (planes.key(),),
    tuple(fact.key() for fact in (host_ops, device_ops, compiled_ops, host_kernels)),
)


def files(*captures):
    paths = [path for one in captures for path in sorted(folder(one).glob("*.xplane.pb*"))]
    paths.sort(key=lambda path: (host_name(path), str(path)))  # as a run orders what it is given
    return [HostFile(place, str(path), path.stat().st_size) for place, path in enumerate(paths)]
