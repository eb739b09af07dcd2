import subprocess
import sys
import textwrap

import pytest

from tests.core.wire.compared import compare_enums, compare_messages
from tfprof.core.wire import messages


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


USE = """
from tfprof.core.wire import messages
graph = messages.GraphDef(node=[messages.NodeDef(name="a", op="NoOp")])
graph.node[0].attr["T"].type = messages.DataType.DT_FLOAT
assert messages.parse(messages.GraphDef, graph.SerializeToString(), source="x") == graph
"""

TF_USE = """
import tensorflow
from tensorflow.core.framework import graph_pb2
theirs = graph_pb2.GraphDef()
theirs.node.add(name="a", op="NoOp")
"""


def test_every_message_is_a_module_attribute():
    names = messages.message_names()
    assert {"GraphDef", "RunMetadata", "OpLogProto", "ProfileProto", "Profile", "XSpace"} <= set(
        names
    )
    assert set(names) <= set(dir(messages))
    for name in names:
        found = getattr(messages, name)
        assert found.DESCRIPTOR.name == name
        assert getattr(messages, name) is found
        assert found() == found.FromString(b"")


def test_names_and_nested_classes():
    assert messages.GraphNodeProto.DESCRIPTOR.full_name == "tensorflow.tfprof.GraphNodeProto"
    assert messages.Profile.DESCRIPTOR.full_name == "tensorflow.tfprof.pprof.Profile"
    assert messages.message_class("tensorflow.tfprof.CodeDef.Trace") is messages.CodeDef.Trace
    assert messages.DataType.Name(101) == "DT_FLOAT_REF"


def test_unknown_names():
    with pytest.raises(AttributeError, match="no message called 'NoSuchThing'"):
        _ = messages.NoSuchThing
    with pytest.raises(AttributeError, match="_hidden"):
        _ = messages._hidden
    with pytest.raises(KeyError):
        messages.message_class("tensorflow.NoSuchThing")


def test_unknown_fields_survive():
    # cost_graph (2) is not in our schema.
    data = b"\x12\x02\x0a\x00"
    assert messages.RunMetadata.FromString(data).SerializeToString() == data


def test_default_pool_stays_clean():
    run_python(
        USE
        + """
        import google.protobuf.descriptor_pool as p
        for name in ("tensorflow.GraphDef", "tensorflow.tfprof.OptionsProto"):
            try:
                p.Default().FindMessageTypeByName(name)
            except KeyError:
                continue
            raise SystemExit(name + " is in the default pool")
        """.replace("\n        ", "\n")
    )


def test_importing_is_lazy():
    out = run_python(
        """
        import sys
        import tfprof.core.wire.messages
        print("google.protobuf.descriptor_pool" in sys.modules, "tensorflow" in sys.modules)
        """
    )
    assert out.split() == ["False", "False"]


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.tensorflow
def test_tensorflow_in_the_same_process(order):
    pytest.importorskip("tensorflow")
    parts = [TF_USE, USE] if order == "before" else [USE, TF_USE]
    run_python(
        "\n".join(parts)
        + "\nassert type(graph) is not type(theirs)"
        + "\nours = messages.GraphDef.FromString(theirs.SerializeToString())"
        + "\nassert ours.node[0].op == 'NoOp'"
    )


def tensorflow_pool():
    pytest.importorskip("tensorflow")
    from google.protobuf import descriptor_pool
    from tensorflow.compiler.xla.service import hlo_pb2
    from tensorflow.core.profiler import tfprof_log_pb2, tfprof_options_pb2, tfprof_output_pb2
    from tensorflow.core.protobuf import config_pb2, saved_model_pb2, tensor_bundle_pb2
    from tensorflow.core.util import saved_tensor_slice_pb2
    from tensorflow.tsl.profiler.protobuf import profile_pb2, xplane_pb2

    assert all(
        [
            tfprof_log_pb2,
            tfprof_options_pb2,
            tfprof_output_pb2,
            config_pb2,
            hlo_pb2,
            saved_model_pb2,
            tensor_bundle_pb2,
            saved_tensor_slice_pb2,
            profile_pb2,
            xplane_pb2,
        ]
    )
    return descriptor_pool.Default()


def is_our_own(name):
    """Whether TensorFlow's package lacks a message, or has it in no module of Python."""
    file = getattr(messages, name).DESCRIPTOR.file
    if file.name == "tfprof/profiler_service.proto":  # see tests/remote/test_service_messages.py
        return True
    return file.package == "tfprof" or file.name == "tfprof/legacy_results.proto"


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", [n for n in messages.message_names() if not is_our_own(n)])
def test_message_equals_tensorflows(name):
    ours = getattr(messages, name).DESCRIPTOR
    compare_messages(ours, tensorflow_pool().FindMessageTypeByName(ours.full_name))


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "name",
    [
        "DataType",
        "FullTypeId",
        "VariableSynchronization",
        "VariableAggregation",
        "PrimitiveType",
        "FftType",
    ],
)
def test_enum_equals_tensorflows(name):
    ours = getattr(messages, name).DESCRIPTOR
    compare_enums(ours, tensorflow_pool().FindEnumTypeByName(ours.full_name))
