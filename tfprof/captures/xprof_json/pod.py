"""The pod viewer's JSON."""

from __future__ import annotations

from typing import Any

from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.steps import HostSteps, RunSteps, times_by_category
from tfprof.captures.run.run import Run
from tfprof.captures.tools.pod_viewer import PS_PER_US, bottleneck_of
from tfprof.captures.tools.tpu_pod import TpuPod
from tfprof.captures.xprof_json.diagnostics import diagnostics_by_severity


def to_json(run: Run, steps: RunSteps, tpu: TpuPod | None) -> dict[str, Any]:
    """Make the JSON of every step of every core, with the transfers between TPUs."""
    known = environment(run)
    amounts = {
        one: (times_by_category(one.times, run.rules) / PS_PER_US).tolist() for one in steps.hosts
    }
    return {
        "deviceType": known.device_type,
        "podStatsSequence": {
            "podStatsMap": [
                {
                    "stepNum": _step_number(steps, place),
                    "podStatsPerCore": {
                        str(one.core_id): _core(one, steps, place, amounts[one][place])
                        for one in steps.hosts
                    },
                    **_of_tpus(tpu, place),
                }
                for place in range(steps.n_steps)
            ]
        },
        "stepBreakdownEvents": [
            {"id": category.id, "name": category.name} for category in CATEGORIES
        ],
        "diagnostics": diagnostics_by_severity((*run.notes, *steps.notes), run.rules),
    }


def _of_tpus(tpu: TpuPod | None, place: int) -> dict[str, Any]:
    """Channels and all-reduce ops of a step, in the form of Cloud TPU."""
    if tpu is None:
        return {"channelDb": [], "coreIdToReplicaIdMap": {}, "allReduceOpDb": []}
    return {
        "channelDb": [
            {
                "channelId": str(one.channel),
                "dataSize": str(one.n_bytes),
                "srcCoreId": one.source,
                "dstCoreId": one.target,
                "durationUs": one.latency_ps / PS_PER_US,
                "sendDelayUs": one.send_delay_ps / PS_PER_US,
                "occurrences": one.occurrences,
                "hloNames": list(one.names),
            }
            for one in tpu.channels.get(place, ())
        ],
        "coreIdToReplicaIdMap": {str(core): replica for core, replica in tpu.replicas.items()},
        "allReduceOpDb": [
            {
                "name": one.instruction.name,
                "description": one.instruction.text,
                "dataSize": str(one.instruction.n_bytes),
                "durationUs": one.duration_ps / PS_PER_US,
                "occurrences": one.occurrences,
                "replicaGroups": one.instruction.replica_groups,
            }
            for one in tpu.collectives.get(place, ())
        ],
    }


def _step_number(steps: RunSteps, place: int) -> int:
    """The group of the step or, with several hosts, its place."""
    return place if len(steps.hosts) != 1 else int(steps.hosts[0].times.groups[place])


def _core(one: HostSteps, steps: RunSteps, place: int, amounts: list[float]) -> dict[str, Any]:
    rules = one.host.rules
    core = None if rules.shows_no_tpu_pod or one.core is None else one.core.core
    return {
        "hostName": one.host.machine if rules.names_hosts_by_machine else one.host.name,
        "chipId": 0 if core is None else core.chip,
        "nodeId": 0 if core is None else core.core,
        "stepNum": _step_number(steps, place),
        "totalDurationUs": float(one.times.duration_ps[place]) / PS_PER_US,
        "stepBreakdownUs": {
            str(category.id): amount for category, amount in zip(CATEGORIES, amounts, strict=True)
        },
        "bottleneck": bottleneck_of(amounts),
    }
