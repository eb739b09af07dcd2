"""OpenTelemetry's own messages read what is written for them, with our sums."""

import pytest

from tests.readers.conftest import opened
from tfprof.core.wire.messages import Otlp
from tfprof.export.profiles import stacks_of_profile
from tfprof.export.stacks import stacks_of_trace

pytestmark = pytest.mark.readers


@pytest.fixture
def theirs():
    profiles = "opentelemetry.proto.profiles.v1development.profiles_pb2"
    return pytest.importorskip(profiles)


def fields_of(message):
    return {
        one.name: (one.number, one.type, one.message_type and one.message_type.name)
        for one in message.fields
    }


def test_our_fields_are_theirs(theirs):
    from opentelemetry.proto.common.v1 import common_pb2
    from opentelemetry.proto.resource.v1 import resource_pb2

    known = {
        **theirs.DESCRIPTOR.message_types_by_name, **common_pb2.DESCRIPTOR.message_types_by_name,
        **resource_pb2.DESCRIPTOR.message_types_by_name,
    }  # fmt: skip
    for name, ours in Otlp.DESCRIPTOR.nested_types_by_name.items():
        their_fields = fields_of(known[name])
        for field, facts in fields_of(ours).items():
            assert their_fields[field] == facts, (name, field)


@pytest.mark.parametrize("name", ["cpu-keras-fit", "gpu-synthetic", "profile"])
def test_sums_and_stacks(theirs, converted, name):
    one = opened(name)
    is_profile = name == "profile"
    stacks = stacks_of_profile(one.profiler()) if is_profile else stacks_of_trace(one.events())
    told = theirs.ProfilesData.FromString(converted(name, "otlp").read_bytes())
    known = told.dictionary
    profiles = told.resource_profiles[0].scope_profiles[0].profiles
    texts = known.string_table
    assert len(profiles) == len(stacks.types)
    paths = [[stacks.frames[one].name for one in path] for path in stacks.paths(stacks.nodes)]
    for profile, kind, values in zip(profiles, stacks.types, stacks.values, strict=True):
        assert texts[profile.sample_type.type_strindex] == kind.name
        assert texts[profile.sample_type.unit_strindex] == kind.unit
        assert [sample.values[0] for sample in profile.samples] == values.tolist()
    for sample, path in zip(profiles[0].samples, paths, strict=True):
        locations = known.stack_table[sample.stack_index].location_indices
        names = [
            texts[
                known.function_table[known.location_table[at].lines[0].function_index].name_strindex
            ]
            for at in reversed(locations)
        ]
        assert names == path
    total = sum(value for profile in profiles for one in profile.samples for value in one.values)
    assert total == stacks.values.sum()
