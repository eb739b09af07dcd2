"""Clock cycles that XLA has measured for operations on one element, on a GPU of type sm_86.

XLA's cost analysis for GPUs counts them as float operations on every GPU of unknown type, and so
does the reference. Values: ``hlo_op_profiles_data.h`` (XLA), ``kDeviceHloOpProfiles``.
"""

from __future__ import annotations

from typing import Final

OTHER_CYCLES: Final = 3
"""Cycles of every operation that is not in the table."""

_TABLE: Final = """
add                    f64 97    c128 97
atan2                  f16 482   f32 486   f64 3747  c64 5353  c128 39027
cbrt                   f16 925   f32 867   f64 6339
cosine                 f16 691   f32 662   f64 1717  c128 6613
divide                 s8 370    s16 367   s32 306   s64 918
divide                 u8 306    u16 302   u32 115   u64 838
divide                 f64 2016  c64 687   c128 7941
exponential            f16 108   f32 86    f64 1652  c64 1360  c128 4028
exponential-minus-one  f16 396   f32 381   f64 1900  c64 1400  c128 4161
log                    f16 266   f32 244   f64 608   c64 950   c128 7599
log-plus-one           f16 284   f32 262   f64 2073  c64 842   c128 6962
logistic               f16 226   f32 176   f64 2412
multiply               f64 97    c128 270
power                  s8 392    s16 396   s64 601
power                  u8 388    u16 399   u64 604
power                  f16 975   f32 925   f64 5511  c64 3351  c128 18205
rsqrt                  f16 97    f32 75    f64 698   c64 2383  c128 11318
sine                   f32 662   f64 1789  c128 5878
sqrt                   f16 97    f32 75    f64 986   c64 3193  c128 15606
subtract               f64 97    c128 97
tanh                   f16 212   f32 190   f64 1609  c128 9939
"""


def _parsed(table: str) -> dict[tuple[str, str], int]:
    by_opcode = {}
    for line in table.split("\n"):
        opcode, *pairs = line.split() or [""]
        for kind, cycles in zip(pairs[::2], pairs[1::2], strict=True):
            by_opcode[opcode, kind] = int(cycles)
    return by_opcode


CYCLES: Final = _parsed(_TABLE)
"""Cycles by opcode and element type."""
