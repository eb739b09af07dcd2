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

    Attributes:
        name: Tells answers by different rules apart.
        ignores_thread_pools: Nothing links a thread pool's regions to what scheduled them.
        prefers_loops: Iterations of loops are the only steps where there are any, and events of a
            TFRT loop hide all steps.
        numbers_core_steps: Steps of TPU cores are matched by their place, only if the host has
            none, and called by their number. By default cores' steps with the same name are the
            same, and they count, too, where nothing leads from the host's steps to the cores.
        joins_touching_events: What begins where a run of a TPU program ends belongs to that run.
        needs_marked_core_steps: Without marked steps a TPU has none. By default the runs of the
            program that takes the most time are its steps then.
        bounds_core_steps: Ops that reach out of a core's step do not make it longer.
        takes_shortest_core: A step of several cores takes as long as the shortest one.
        counts_all_reduce_as_compute: All-reduce of TPUs is not separated from computation.
        knows_two_collectives: Of the TPUs' collectives only all-reduce and all-to-all count.
        takes_names_for_markers: Whatever is called ``train…`` or ``test…`` marks a step.
        counts_waits_as_work: Python's frames and annotations, tracing, compiling, and regions of
            thread pools count as computation.
        counts_copies_as_compute: Copies by the names that CUPTI gives them count as computation.
        ignores_rccl: AMD's collectives count as computation.
        ignores_bfloat16: Kernels on bfloat16 count as 32 bits wide.
        takes_device_time_alone: With GPUs a step is what their events take, and time between steps
            never counts.
        counts_silent_devices: A device of which nothing was recorded has steps, too.
        matches_steps_by_time: Steps of several hosts are never matched by their numbers, and no
            host is left out.
        keeps_all_steps: No step is cut, unusual, or of another kind than the others.
        takes_largest_of_hosts: Each category of a step has the largest time of any host, so that
            categories do not add up. By default they are those of the host the others wait for.
        drops_outer_steps: Of more than five steps the first and the last are left out.
        drops_copies_on_host: Copies on the host are in no category of a step's time.
        judges_first_host: Only the first host's steps are judged and shown.
        merges_hosts_of_machine: Files of one machine are one machine, whatever their addresses.
        names_hosts_by_machine: Hosts are called by the name of their machine.
        ends_ops_with_parent: An op that ends at the moment of what it lies in, but stands behind
            it, is lost: its time counts for the outer one.
        counts_allocations_as_runs: Allocations that name an op are runs of it, and ops of programs
            and of Python are none.
        keeps_negative_times: Runs that end before they start count as they are.
        unites_ops_of_programs: What is called alike is one op, whatever program it is in; it ran
            as often as its part that ran the most.
        counts_kernels_as_runs: Each kernel of an instruction is a run of it, so its float
            operations are too many; kernels without an op are left out.
        counts_cycles: Costs of instructions of GPU programs are in cycles.
        needs_device: Programs that XLA compiled for a CPU have no ops.
        ignores_newer_tensor_cores: Tensor cores of Hopper and Blackwell, and those of an unknown
            vendor, are unknown.
        needs_scope_of_matmul: ``MatMul_1``, and ``MatMul`` without a scope, cannot use them.
        ignores_group_memory: AMD's group memory is not read.
        keeps_kernels_of_hosts: Kernels of several hosts are not added up.
        misses_newer_readers: ``TFRecordV2`` and ``Interleave[0]`` are unknown.
        scales_by_enqueues: With a ratio of enqueues, but without enqueues, all input time is 0.
        drops_unsigned_ids: Ids of iterators that are written as unsigned numbers are 0.
        keeps_iterator_suffix: Types of iterators are shown with what stands behind them.
        judges_slowest_call: The bottleneck of a pipeline is that of its slowest call alone.
        drops_pipelines_of_devices: Pipelines that feed a device are no bottleneck.
        counts_from_thread: Times of allocations count from the beginning of each thread.
        takes_file_order: Of equal peaks of memory the last in the file counts, whatever its time.
        keeps_unknown_fragmentation: Fragmentation may be no number, as the recorder wrote it.
        names_one_step: Only allocations in the step of the peak are named.
        keeps_allocator_order: Allocators are in the order of their names.
        needs_memory_trace: Temporary memory that no trace tells of is left out.
        takes_groups_for_requests: A request lasts as long as its group of events.
        derives_no_host_lines: Threads that ran XLA:CPU have no derived lines.
        keeps_last_derived_span: The last span of a derived line is not cut to the one inside it.
        clears_unknown_ops: A kernel of an instruction that no program knows has no op.
        ignores_vendorless_peaks: A GPU of an unknown vendor has no peak rates.
        ignores_eager_gradients: For the overview, only compiled programs tell that a run trains.
        ignores_compiled_gradients: For op stats, compiled programs do not tell it.
        writes_zeros: Unknown costs are 0.
        cuts_tables: Tables have at most 500 or 1,000 rows.
        drops_programs: Tables of ops do not name programs.
        keeps_rows_of_capture: The rows of a step are beside those of the whole capture.
        counts_idle_time: Shares of ops are those of the capture with its idle time.
        shows_viewer_events: The trace has what the reference's viewer shows, the way it tells it.
        says_less: What the reference does not say is an info, or left out; and there is no advice.
    """

    name: str
    ignores_thread_pools: bool = False
    prefers_loops: bool = False
    numbers_core_steps: bool = False
    joins_touching_events: bool = False
    needs_marked_core_steps: bool = False
    bounds_core_steps: bool = False
    takes_shortest_core: bool = False
    counts_all_reduce_as_compute: bool = False
    knows_two_collectives: bool = False
    takes_names_for_markers: bool = False
    counts_waits_as_work: bool = False
    counts_copies_as_compute: bool = False
    ignores_rccl: bool = False
    ignores_bfloat16: bool = False
    takes_device_time_alone: bool = False
    counts_silent_devices: bool = False
    matches_steps_by_time: bool = False
    keeps_all_steps: bool = False
    takes_largest_of_hosts: bool = False
    drops_outer_steps: bool = False
    drops_copies_on_host: bool = False
    judges_first_host: bool = False
    merges_hosts_of_machine: bool = False
    names_hosts_by_machine: bool = False
    ends_ops_with_parent: bool = False
    counts_allocations_as_runs: bool = False
    keeps_negative_times: bool = False
    unites_ops_of_programs: bool = False
    counts_kernels_as_runs: bool = False
    counts_cycles: bool = False
    needs_device: bool = False
    ignores_newer_tensor_cores: bool = False
    needs_scope_of_matmul: bool = False
    ignores_group_memory: bool = False
    keeps_kernels_of_hosts: bool = False
    misses_newer_readers: bool = False
    scales_by_enqueues: bool = False
    drops_unsigned_ids: bool = False
    keeps_iterator_suffix: bool = False
    judges_slowest_call: bool = False
    drops_pipelines_of_devices: bool = False
    counts_from_thread: bool = False
    takes_file_order: bool = False
    keeps_unknown_fragmentation: bool = False
    names_one_step: bool = False
    keeps_allocator_order: bool = False
    needs_memory_trace: bool = False
    takes_groups_for_requests: bool = False
    derives_no_host_lines: bool = False
    keeps_last_derived_span: bool = False
    clears_unknown_ops: bool = False
    ignores_vendorless_peaks: bool = False
    ignores_eager_gradients: bool = False
    ignores_compiled_gradients: bool = False
    writes_zeros: bool = False
    cuts_tables: bool = False
    drops_programs: bool = False
    keeps_rows_of_capture: bool = False
    counts_idle_time: bool = False
    shows_viewer_events: bool = False
    says_less: bool = False


OURS = Rules("ours")
REFERENCE = Rules("reference", **{one.name: True for one in fields(Rules) if one.name != "name"})

BY_NAME = {rules.name: rules for rules in (OURS, REFERENCE)}
