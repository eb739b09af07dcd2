"""Small captures of graphs, made by hand."""

from tests.captures.events.made import NOW
from tests.hlo_programs import op, program
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, gpu, host, line, plane, xspace

ALL_STEPS = {"hlo_module": "jit_f", "program_id": 7}


def add_and_gemm(*, calls=False):
    """A program with a fusion and a product, in the metadata of a capture.

    Args:
        calls: Whether they are in a computation of their own, which the entry calls.
    """
    metadata = pb.OpMetadata(op_name="jit(f)/dense/add", source_file="model.py", source_line=12)
    both = [
        op("loop_add_fusion.1", "fusion", "f32[4]", metadata=metadata),
        op("custom-call.2", "custom-call", "f32[4]", custom_call_target="__cublas$gemm"),
    ]
    entry = [op("call.9", "call", "f32[4]", calls=("command_buffer",))]
    proto = program(command_buffer=both, main=entry) if calls else program(main=both)
    stats = {"Hlo Proto": proto.SerializeToString(), "program_id": 7}
    return plane("/host:metadata", metadata={"jit_f(7)": stats})


def launched(number, start, *names, calls=ALL_STEPS, is_amd=False, **stats):
    """Kernels of launch ``number`` of graph 3, and its call, which has annotations on AMD only."""
    inside = [
        event(name, start + 10 * place, 10, kernel_details=NOW, correlation_id=number,
              cuda_graph_id=3, cuda_graph_node_id=place + 1, **{**calls, **stats})
        for place, name in enumerate(names)
    ]  # fmt: skip
    call = event("cuGraphLaunch (CudaGraph:3)", start, 5, correlation_id=number,
                 **(calls if is_amd else {}))  # fmt: skip
    return inside, call


def capture(*launches, planes=(), around=()):
    kernels = [one for inside, _ in launches for one in inside]
    calls = [call for _, call in launches]
    return xspace(
        host(line(*around, *calls)), gpu(line(*kernels, id=14, name="Stream #14")), *planes
    )
