"""The nine categories of the time of steps."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.captures.events.steps.step_events import Spent
from tfprof.core.columns.described import Clock


class Category(NamedTuple):
    """A category of time, as shown to users.

    Attributes:
        id: Its number in the reference.
        name: Its name in the reference.
        column: Its column in the step table.
        key: Its prefix in properties.
        kinds: The kinds of time in it.
        clock: The clock of these kinds.
        meaning: Their meaning. A moment counts only once: for the part that comes first among the
            limits of a step.
    """

    id: int
    name: str
    column: str
    key: str
    kinds: tuple[Spent, ...]
    clock: Clock
    meaning: str


CATEGORIES = (
    Category(1, "Device compute", "deviceComputeTimeMs", "device_compute",
             (Spent.DEVICE_COMPUTE_32, Spent.DEVICE_COMPUTE_16), "device",
             "time in which a device computed"),
    Category(2, "Device to device", "deviceToDeviceTimeMs", "device_to_device",
             (Spent.DEVICE_TO_DEVICE, Spent.DEVICE_WAIT_DEVICE), "device",
             "copies between devices, and devices that wait for others"),
    Category(3, "Device collective communication", "deviceCollectivesTimeMs",
             "device_collectives", (Spent.DEVICE_COLLECTIVES,), "device",
             "collective communication of devices, such as all-reduce"),
    Category(4, "Host compute", "hostComputeTimeMs", "host_compute",
             (Spent.HOST_COMPUTE, Spent.HOST_CALLBACK), "host",
             "ops on threads of the host, and copies within its memory"),
    Category(5, "Kernel launch", "kernelLaunchTimeMs", "kernel_launch", (Spent.HOST_PREPARE,),
             "host", "the host prepared and launched work of devices"),
    Category(6, "Input", "infeedTimeMs", "infeed",
             (Spent.HOST_WAIT_INPUT, Spent.HOST_TO_DEVICE, Spent.DEVICE_WAIT_HOST), "both",
             "waiting for input: by the host, its copies to devices, and devices for it"),
    Category(7, "Output", "outfeedTimeMs", "outfeed", (Spent.DEVICE_TO_HOST,), "device",
             "copies from devices to the host"),
    Category(8, "Compilation", "compileTimeMs", "compile", (Spent.HOST_COMPILE,), "host",
             "the host compiled"),
    Category(9, "All others", "otherTimeMs", "other",
             (Spent.UNKNOWN, Spent.HOST_CODE, Spent.HOST_RUNTIME), "host",
             "the rest: the program's own code, and what has no name"),
)  # fmt: skip
"""The categories of ``step_breakdown`` in the reference. In classic mode, copies from host to host
are in none of them; by default they are host computation."""

BY_KEY = {category.key: category for category in CATEGORIES}
