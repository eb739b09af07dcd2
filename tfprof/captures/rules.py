"""How results are counted: every departure of the reference (xprof 2.24) from our numbers.

A run, and each of its hosts, has the rules by which it is counted: ``OURS``, or ``REFERENCE`` in
classic mode. What depends on them asks ``host.rules``; what does not is worked out once for both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Rules:
    """What the reference does and tfprof does not.

    Each rule stands for one departure, which is a known gap or mistake of the reference, or a
    limit of its tables. ``docs/differences.md`` gives the reasons.
    """

    name: str
    ignores_thread_pools: bool = False
    """Nothing links a thread pool's regions to what scheduled them."""
    prefers_loops: bool = False
    """Iterations of loops are the only steps where there are any, and events of a TFRT loop hide
    all steps."""
    numbers_core_steps: bool = False
    """Steps of TPU cores are matched by their place, only if the host has none, and called by
    their number. By default cores' steps with the same name are the same, and they count, too,
    where nothing leads from the host's steps to the cores."""
    joins_touching_events: bool = False
    """What begins where a run of a TPU program ends belongs to that run."""
    needs_marked_core_steps: bool = False
    """Without marked steps a TPU has none. By default the runs of the program that takes the most
    time are its steps then."""
    bounds_core_steps: bool = False
    """Ops that reach out of a core's step do not make it longer."""
    takes_shortest_core: bool = False
    """A step of several cores takes as long as the shortest one."""
    counts_all_reduce_as_compute: bool = False
    """All-reduce of TPUs is not separated from computation."""
    knows_two_collectives: bool = False
    """Of the TPUs' collectives only all-reduce and all-to-all count."""
    takes_names_for_markers: bool = False
    """Whatever is called ``train…`` or ``test…`` marks a step."""
    counts_waits_as_work: bool = False
    """Python's frames and annotations, tracing, compiling, and regions of thread pools count as
    computation."""
    counts_copies_as_compute: bool = False
    """Copies by the names that CUPTI gives them count as computation."""
    ignores_rccl: bool = False
    """AMD's collectives count as computation."""
    ignores_bfloat16: bool = False
    """Kernels on bfloat16 count as 32 bits wide."""
    takes_device_time_alone: bool = False
    """With GPUs a step is what their events take, and time between steps never counts."""
    counts_silent_devices: bool = False
    """A device of which nothing was recorded has steps, too."""
    matches_steps_by_time: bool = False
    """Steps of several hosts are never matched by their numbers, and no host is left out."""
    keeps_all_steps: bool = False
    """No step is cut, unusual, or of another kind than the others."""
    takes_largest_of_hosts: bool = False
    """Each category of a step has the largest time of any host, so that categories do not add up.
    By default they are those of the host the others wait for."""
    drops_outer_steps: bool = False
    """Of more than five steps the first and the last are left out."""
    drops_copies_on_host: bool = False
    """Copies on the host are in no category of a step's time."""
    judges_first_host: bool = False
    """Only the first host's steps are judged and shown."""
    merges_hosts_of_machine: bool = False
    """Files of one machine are one machine, whatever their addresses."""
    names_hosts_by_machine: bool = False
    """Hosts are called by the name of their machine."""
    ends_ops_with_parent: bool = False
    """An op that ends at the moment of what it lies in, but stands behind it, is lost: its time
    counts for the outer one."""
    counts_allocations_as_runs: bool = False
    """Allocations that name an op are runs of it, and ops of programs and of Python are none."""
    keeps_negative_times: bool = False
    """Runs that end before they start count as they are."""
    unites_ops_of_programs: bool = False
    """What is called alike is one op, whatever program it is in; it ran as often as its part that
    ran the most."""
    counts_kernels_as_runs: bool = False
    """Each kernel of an instruction is a run of it, so its float operations are too many; kernels
    without an op are left out."""
    counts_cycles: bool = False
    """Costs of instructions of GPU programs are in cycles."""
    needs_device: bool = False
    """Programs that XLA compiled for a CPU have no ops."""
    ignores_newer_tensor_cores: bool = False
    """Tensor cores of Hopper and Blackwell, and those of an unknown vendor, are unknown."""
    needs_scope_of_matmul: bool = False
    """``MatMul_1``, and ``MatMul`` without a scope, cannot use them."""
    ignores_group_memory: bool = False
    """AMD's group memory is not read."""
    keeps_kernels_of_hosts: bool = False
    """Kernels of several hosts are not added up."""
    misses_newer_readers: bool = False
    """``TFRecordV2`` and ``Interleave[0]`` are unknown."""
    scales_by_enqueues: bool = False
    """With a ratio of enqueues, but without enqueues, all input time is 0."""
    drops_unsigned_ids: bool = False
    """Ids of iterators that are written as unsigned numbers are 0."""
    keeps_iterator_suffix: bool = False
    """Types of iterators are shown with what stands behind them."""
    judges_slowest_call: bool = False
    """The bottleneck of a pipeline is that of its slowest call alone."""
    drops_pipelines_of_devices: bool = False
    """Pipelines that feed a device are no bottleneck."""
    counts_from_thread: bool = False
    """Times of allocations count from the beginning of each thread."""
    takes_file_order: bool = False
    """Of equal peaks of memory the last in the file counts, whatever its time."""
    keeps_unknown_fragmentation: bool = False
    """Fragmentation may be no number, as the recorder wrote it."""
    names_one_step: bool = False
    """Only allocations in the step of the peak are named."""
    keeps_allocator_order: bool = False
    """Allocators are in the order of their names."""
    needs_memory_trace: bool = False
    """Temporary memory that no trace tells of is left out."""
    takes_groups_for_requests: bool = False
    """A request lasts as long as its group of events."""
    derives_no_host_lines: bool = False
    """Threads that ran XLA:CPU have no derived lines."""
    keeps_last_derived_span: bool = False
    """The last span of a derived line is not cut to the one inside it."""
    clears_unknown_ops: bool = False
    """A kernel of an instruction that no program knows has no op."""
    ignores_vendorless_peaks: bool = False
    """A GPU of an unknown vendor has no peak rates."""
    ignores_eager_gradients: bool = False
    """For the overview, only compiled programs tell that a run trains."""
    ignores_compiled_gradients: bool = False
    """For op stats, compiled programs do not tell it."""
    writes_zeros: bool = False
    """Unknown costs are 0."""
    cuts_tables: bool = False
    """Tables have at most 500 or 1,000 rows."""
    drops_programs: bool = False
    """Tables of ops do not name programs."""
    keeps_rows_of_capture: bool = False
    """The rows of a step are beside those of the whole capture."""
    counts_idle_time: bool = False
    """Shares of ops are those of the capture with its idle time."""
    shows_viewer_events: bool = False
    """The trace has what the reference's viewer shows, the way it tells it."""
    omits_notes: bool = False
    """What tfprof says and the reference does not is an info, which its JSON omits."""
    gives_no_advice: bool = False
    """The overview has no advice."""
    ignores_mixed_devices: bool = False
    """Devices of several kinds count as the first kind."""
    judges_no_tpu_steps: bool = False
    """TPU steps are judged like those of other devices, which finds nothing."""
    writes_text_as_level: bool = False
    """What stands where the level of a bottleneck should be is its statement."""
    shows_no_tpu_pod: bool = False
    """The pod viewer has no chips, transfers, and all-reduces of TPUs."""
    names_largest_category: bool = False
    """Steps without an op have a largest category, too."""
    shows_unjudged_input: bool = False
    """The wait for input is shown even where the verdict is unknown."""
    ignores_loops: bool = False
    """Loops inside functions that take elements of a dataset are not recognised."""
    shows_fast_pipelines: bool = False
    """Pipelines that are fast enough have a bottleneck, too."""
    advises_by_type: bool = False
    """Advice on an iterator depends on its type alone."""
    reads_ids_as_signed: bool = False
    """Large ids of iterators are shown as negative."""
    sorts_programs_by_memory: bool = False
    """Programs that did not run are among those that did."""


OURS = Rules("ours")
REFERENCE = Rules("reference", **{one.name: True for one in fields(Rules) if one.name != "name"})

BY_NAME = {rules.name: rules for rules in (OURS, REFERENCE)}
