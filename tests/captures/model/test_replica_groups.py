"""Groups of devices: lists, counted lists and axes of meshes."""

import numpy as np
import pytest

from tfprof.captures.hlo.text import expression
from tfprof.captures.model.replica_groups import (
    MeshAxis,
    groups_of,
    groups_of_pairs,
    mesh_groups,
    stride_of,
)
from tfprof.captures.read.hlo import module_of
from tfprof.core.wire import messages as pb


@pytest.mark.parametrize(
    "text, groups, stride",
    [
        ("{{0,1},{2,3}}", ((0, 1), (2, 3)), 1),
        ("{{0,2},{1,3}}", ((0, 2), (1, 3)), 2),
        ("{{0,1,3}}", ((0, 1, 3),), None),
        ("[2,4]<=[8]", ((0, 1, 2, 3), (4, 5, 6, 7)), 1),
        ("[4,2]<=[2,4]T(1,0)", ((0, 4), (1, 5), (2, 6), (3, 7)), 4),
        ("{}", (), None),
        ("", (), None),
        ("[3,4]<=[8]", (), None),
        ("[2,4]<=[2,4]T(0,2)", (), None),
        ("[0,0]<=[0]", (), None),
        ("[1,999999999]<=[999999999]", (), None),
    ],
)
def test_groups_as_xla_writes_them(text, groups, stride):
    assert groups_of(text) == groups
    assert stride_of(groups) == stride


def test_senders_and_receivers_are_groups():
    assert groups_of_pairs([(0, 4), (4, 0), (1, 5), (5, 1)]) == ((0, 4), (1, 5))
    assert groups_of_pairs([(0, 1), (2, 3), (1, 2)]) == ((0, 1, 2, 3),)
    assert groups_of_pairs([]) == ()


@pytest.mark.parametrize(
    "axes, text",
    [
        ([MeshAxis(1)], "[2,4]<=[2,4]"),
        ([MeshAxis(0)], "[4,2]<=[2,4]T(1,0)"),
        ([MeshAxis(1), MeshAxis(0)], "[1,8]<=[2,4]T(1,0)"),
        ([MeshAxis(1, 1, 2)], "[4,2]<=[2,1,2,2]T(0,1,3,2)"),
        ([MeshAxis(1, 2, 2)], "[4,2]<=[2,2,2,1]T(0,1,3,2)"),
        ([MeshAxis(2)], ""),
        ([MeshAxis(1, 3, 2)], ""),
        ([MeshAxis(1, -1, -2)], ""),
    ],
)
def test_axes_of_a_mesh(axes, text):
    assert mesh_groups([2, 4], axes, []) == text


def test_devices_of_a_mesh_in_their_own_order():
    order = np.array([3, 1, 2, 0])
    assert mesh_groups([2, 2], [MeshAxis(0)], order.tolist()) == "{{3,2},{1,0}}"
    assert mesh_groups([2, 2], [MeshAxis(0)], [0, 1]) == ""
    assert mesh_groups([], [], []) == ""


def test_groups_by_axes_of_a_mesh_are_read_with_their_names():
    module = pb.HloModuleProto(name="jit_f")
    computation = module.computations.add(id=1, name="main", root_id=1)
    one = computation.instructions.add(name="all-reduce.1", opcode="all-reduce", id=1)
    by_axes = one.mesh_axes_replica_group_list
    by_axes.mesh.axes.add(name="data", size=2)
    by_axes.mesh.axes.add(name="model", size=4)
    by_axes.axes.add(mesh_axis_index=0)
    read = module_of(pb.HloProto(hlo_module=module)).find("all-reduce.1")
    assert read.attributes.replica_groups == "[4,2]<=[2,4]T(1,0)"
    assert read.attributes.mesh_axes == ("data",)
    assert "replica_groups=[4,2]<=[2,4]T(1,0)" in expression(read)
