"""Costs, categories and texts of the reference (xprof 2.24.2), instruction by instruction.

``data/programs.xplane.pb.gz`` holds programs that JAX 0.10 compiled, or that were written as text
for this test. ``data/reference.json.gz`` has the reference's HLO stats for one run of each of their
instructions on a GPU: program, name, category, model FLOPs, device FLOPs, bytes, bytes of the main
memory, text.
"""

import gzip
import json
from pathlib import Path

import pytest

from tests.captures.tools.oracle import answer, folder, rows
from tfprof.captures.hlo.opcodes import category_of
from tfprof.captures.hlo.reference_cost import reference_costs_of
from tfprof.captures.hlo.text import expression
from tfprof.captures.read.hlo import hlo_programs
from tfprof.captures.read.xspace import read_xspace

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def programs():
    space = read_xspace(DATA / "programs.xplane.pb.gz")
    return {program.id: program for program in hlo_programs(space)}


@pytest.fixture(scope="module")
def answers():
    return json.loads(gzip.decompress((DATA / "reference.json.gz").read_bytes()))


@pytest.fixture(scope="module")
def costs(programs):
    return {number: reference_costs_of(program.module()) for number, program in programs.items()}


def test_costs_are_the_references(programs, answers, costs):
    different = []
    for program, name, _, flops, device_flops, n_bytes, main_bytes, _ in answers:
        one = programs[int(program)].module().find(name)
        cost = costs[int(program)][one]
        found_main = cost.main_read_bytes + cost.main_write_bytes
        # Without bytes in main memory, the reference shows all bytes.
        found = (cost.flops, cost.device_flops, cost.bytes_accessed, found_main or n_bytes)
        if found != (flops, device_flops, n_bytes, main_bytes):
            different.append(one.opcode)
    assert len(answers) > 1200
    # The memory of a conditional's bytes is unknown; its branches have their own bytes.
    assert different == ["conditional"]


def test_categories_are_the_references(programs, answers):
    for program, name, category, *_ in answers:
        assert category_of(programs[int(program)].module().find(name)) == category


def test_texts_are_the_references(programs, answers):
    different = set()
    for program, name, *_, text in answers:
        one = programs[int(program)].module().find(name)
        if expression(one) != text:
            different.add(one.opcode)
    # Values of constants; attributes that tfprof does not read.
    assert different == {"compare", "constant", "custom-call", "outfeed", "rng", "sort", "topk"}


@pytest.mark.parametrize("capture", ["gpu-rocm-jax-conv", "gpu-rocm-jax-attention"])
def test_shared_captures(capture):
    (path,) = folder(capture).glob("*.xplane.pb")
    programs = {program.id: program for program in hlo_programs(read_xspace(path))}
    found = rows(answer(capture, "hlo_stats.json"))
    assert found
    for row in found:
        module = programs[int(row["program_id"])].module()
        one = module.find(row["hlo_op_name"])
        cost = reference_costs_of(module)[one]
        seconds = row["total_self_time"] / 1e6 / row["occurrences"]
        assert cost.flops == pytest.approx(row["model_flop_rate"] * 1e9 * seconds, rel=1e-9)
        assert cost.device_flops == pytest.approx(row["normalized_flop_rate"] * 1e9 * seconds)
        n_bytes = row["measured_memory_bw"] * 2**30 * seconds
        assert cost.bytes_accessed == pytest.approx(n_bytes, rel=1e-9)
        main_bytes = cost.main_read_bytes + cost.main_write_bytes
        assert main_bytes == pytest.approx(row["hbm_bw"] * 2**30 * seconds, rel=1e-9)
        assert category_of(one) == row["category"]
        assert expression(one) == row["hlo_op_expression"]
        assert one.tf_op == row["tf_op_name"]
