"""Rules for computing results: every difference between the reference (xprof 2.24) and tfprof.

A run and each of its hosts have rules: ``OURS``, or ``REFERENCE`` in classic mode. Code that
depends on them reads ``host.rules``. Results that do not depend on them are computed once for both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Rules:
    """Behaviour of the reference that tfprof does not share.

    Each rule stands for one difference, which is a known gap or mistake of the reference, or a
    limit of its tables. ``docs/differences.md`` gives the reasons.
    """

    name: str
    ignores_thread_pools: bool = False
    """Nothing links a thread pool's regions to the events that scheduled them."""
    prefers_loops: bool = False
    """If there are iterations of loops, they are the only steps, and events of a TFRT loop hide
    all steps."""
    numbers_core_steps: bool = False
    """Steps of TPU cores match by their place, only if the host has none, and have their number
    as name. By default, steps of cores with the same name match, and they also count if nothing
    leads from the host's steps to the cores."""
    joins_touching_events: bool = False
    """Events that begin where a run of a TPU program ends belong to that run."""
    needs_marked_core_steps: bool = False
    """Without marked steps a TPU has none. By default, its steps are then the runs of the program
    that takes the most time."""
    bounds_core_steps: bool = False
    """Ops that extend beyond a core's step do not make it longer."""
    takes_shortest_core: bool = False
    """A step of several cores takes as long as the shortest one."""
    counts_all_reduce_as_compute: bool = False
    """All-reduce of TPUs is not separated from computation."""
    knows_two_collectives: bool = False
    """Of the collectives of TPUs, only all-reduce and all-to-all count."""
    takes_names_for_markers: bool = False
    """Every event named ``train…`` or ``test…`` marks a step."""
    counts_waits_as_work: bool = False
    """Python's frames and annotations, tracing, compiling, and regions of thread pools count as
    computation."""
    counts_copies_as_compute: bool = False
    """Copies with the names that CUPTI gives them count as computation."""
    ignores_rccl: bool = False
    """AMD's collectives count as computation."""
    ignores_bfloat16: bool = False
    """Kernels on bfloat16 count as 32 bits wide."""
    takes_device_time_alone: bool = False
    """With GPUs, a step is the time of their events, and time between steps never counts."""
    counts_silent_devices: bool = False
    """A device without any recorded events also has steps."""
    matches_steps_by_time: bool = False
    """Steps of several hosts never match by their numbers, and no host is left out."""
    keeps_all_steps: bool = False
    """No step counts as cut, unusual, or of another kind than the others."""
    takes_largest_of_hosts: bool = False
    """Each category of a step has the largest time of any host, so that categories do not add up.
    By default, they are the times of the host that the others wait for."""
    drops_outer_steps: bool = False
    """If there are more than five steps, the first and the last are left out."""
    drops_copies_on_host: bool = False
    """Copies on the host do not count in any category of a step's time."""
    judges_first_host: bool = False
    """The verdict and the tables cover only the first host's steps."""
    merges_hosts_of_machine: bool = False
    """Files of one machine count as one machine, whatever their addresses."""
    names_hosts_by_machine: bool = False
    """Hosts have the name of their machine."""
    ends_ops_with_parent: bool = False
    """An op that ends at the same moment as the op around it, but follows it in order, is lost: its
    time counts for the outer op."""
    counts_allocations_as_runs: bool = False
    """Allocations that name an op count as runs of it, and ops of programs and of Python do not."""
    keeps_negative_times: bool = False
    """Runs that end before they start count as they are."""
    unites_ops_of_programs: bool = False
    """Ops with the same name are one op, whatever program they are in. It ran as often as the part
    that ran the most."""
    counts_kernels_as_runs: bool = False
    """Each kernel of an instruction counts as a run of it, so its float operations are too high.
    Kernels without an op are left out."""
    counts_cycles: bool = False
    """Costs of instructions of GPU programs are in cycles."""
    ignores_graphs: bool = False
    """Kernels in CUDA graphs have the instruction that the profiler wrote, or none."""
    ignores_annotations: bool = False
    """Annotations of kernels do not describe instructions whose program the capture lacks."""
    needs_device: bool = False
    """Programs that XLA compiled for a CPU have no ops."""
    ignores_newer_tensor_cores: bool = False
    """Tensor cores of Hopper and Blackwell, and of an unknown vendor, do not count."""
    needs_scope_of_matmul: bool = False
    """``MatMul_1``, and ``MatMul`` without a scope, cannot use tensor cores."""
    ignores_group_memory: bool = False
    """AMD's group memory is not read."""
    keeps_kernels_of_hosts: bool = False
    """Kernels of several hosts do not add up."""
    misses_newer_readers: bool = False
    """``TFRecordV2`` and ``Interleave[0]`` do not count as readers."""
    scales_by_enqueues: bool = False
    """With a ratio of enqueues, but without enqueues, all input time is 0."""
    drops_unsigned_ids: bool = False
    """Ids of iterators in the form of unsigned numbers become 0."""
    keeps_iterator_suffix: bool = False
    """Types of iterators keep their suffix."""
    judges_slowest_call: bool = False
    """The bottleneck of a pipeline is that of its slowest call alone."""
    drops_pipelines_of_devices: bool = False
    """Pipelines that feed a device do not count as a bottleneck."""
    counts_from_thread: bool = False
    """Times of allocations count from the beginning of each thread."""
    takes_file_order: bool = False
    """Of equal peaks of memory, the last one in the file counts, whatever its time. Pipelines are
    numbered in the order of their threads in the file."""
    keeps_unknown_fragmentation: bool = False
    """Fragmentation may be NaN or infinite, as the recorder wrote it."""
    names_one_step: bool = False
    """Only allocations in the step of the peak have names."""
    keeps_allocator_order: bool = False
    """Allocators are in the order of their names."""
    needs_memory_trace: bool = False
    """Temporary memory without a trace is left out."""
    takes_groups_for_requests: bool = False
    """A request lasts as long as its group of events."""
    derives_no_host_lines: bool = False
    """Threads that ran XLA:CPU have no derived lines."""
    keeps_last_derived_span: bool = False
    """The last span of a derived line is not cut to the span inside it."""
    clears_unknown_ops: bool = False
    """A kernel whose instruction is in no program has no op."""
    ignores_vendorless_peaks: bool = False
    """A GPU of an unknown vendor has no peak rates."""
    ignores_eager_gradients: bool = False
    """For the overview, only compiled programs show that a run trains."""
    ignores_compiled_gradients: bool = False
    """For op stats, compiled programs do not show that a run trains."""
    writes_zeros: bool = False
    """Unknown costs are 0."""
    rates_asynchronous_ops: bool = False
    """The work that an instruction only starts, or waits for, has the time of that instruction."""
    cuts_tables: bool = False
    """Tables have at most 500 or 1,000 rows."""
    shows_no_kernel_shares: bool = False
    """Kernels have times, but no share of the time of all."""
    drops_programs: bool = False
    """Tables of ops do not name programs."""
    keeps_rows_of_capture: bool = False
    """The rows of a step are beside those of the whole capture."""
    counts_idle_time: bool = False
    """Shares of ops are relative to the capture with its idle time."""
    shows_viewer_events: bool = False
    """The trace has the content and the format of the reference's viewer."""
    omits_notes: bool = False
    """Notes that only tfprof has are infos, which the reference's JSON omits."""
    gives_no_advice: bool = False
    """The overview has no advice."""
    ignores_mixed_devices: bool = False
    """Devices of several kinds count as the first kind."""
    judges_no_tpu_steps: bool = False
    """The analysis treats TPU steps like those of other devices, and finds nothing."""
    writes_text_as_level: bool = False
    """The statement of a bottleneck stands in place of its level."""
    shows_no_tpu_pod: bool = False
    """The pod viewer has no chips, transfers or all-reduces of TPUs."""
    names_largest_category: bool = False
    """Steps without an op also have a largest category."""
    shows_unjudged_input: bool = False
    """The wait for input appears even if the verdict is unknown."""
    ignores_loops: bool = False
    """Loops inside functions that take elements of a dataset do not count as loops."""
    shows_fast_pipelines: bool = False
    """Fast enough pipelines also have a bottleneck."""
    advises_by_type: bool = False
    """Advice on an iterator depends on its type alone."""
    reads_ids_as_signed: bool = False
    """Large ids of iterators appear as negative."""
    sorts_programs_by_memory: bool = False
    """Programs that did not run stand among those that did."""


OURS = Rules("ours")
REFERENCE = Rules("reference", **{one.name: True for one in fields(Rules) if one.name != "name"})

BY_NAME = {rules.name: rules for rules in (OURS, REFERENCE)}
