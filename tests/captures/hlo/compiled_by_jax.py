"""Programs that JAX compiles here, with their compiler's plan of the memory."""

from __future__ import annotations

from tfprof.captures.hlo.buffers import MemoryUse, memory_use
from tfprof.captures.hlo.memory_savings import Saving, memory_savings
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.read.hlo import module_of
from tfprof.core.wire import messages as pb


class Compiled:
    """A compiled program.

    Args:
        function: A function under ``jax.jit``.
        arguments: Its arguments.

    Attributes:
        proto: As a capture would hold it.
        module: The program in it.
        use: Its memory.
        temp_bytes: Temporary memory, as JAX states it.
        all_bytes: Arguments, outputs and temporary memory without what outputs share, likewise.
    """

    def __init__(self, function, *arguments):
        compiled = function.lower(*arguments).compile()
        stats = compiled.memory_analysis()
        proto = pb.HloProto()
        [module] = compiled.runtime_executable().hlo_modules()
        proto.hlo_module.ParseFromString(module.as_serialized_hlo_module_proto())
        proto.buffer_assignment.ParseFromString(stats.serialized_buffer_assignment_proto)
        self.proto = proto
        self.module: HloModule = module_of(proto)
        self.use: MemoryUse = memory_use(self.module)
        self.temp_bytes: int = stats.temp_size_in_bytes
        self.all_bytes: int = (
            stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes
            - stats.alias_size_in_bytes
        )  # fmt: skip

    def savings(self, action: str, *, is_on_cpu: bool = True) -> list[Saving]:
        """What would free memory, of one kind."""
        found = memory_savings(self.module, self.use, is_on_cpu=is_on_cpu)
        return [one for one in found if one.action == action]
