# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The events of an XSpace, natively and without the GIL; ``core/wire/xspace_pure.py`` says the same.

``elements`` and ``split`` only follow lengths. Their chunks are whole fields of one line, so that
``count`` and ``read`` can take them in any order and in any number of threads: the rows of each
are known before a column is written. What nearly all events look like has a way of its own, which
gives up at the first byte that is not as usual; then the event is read field by field.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

include "varints.pxi"

cdef enum:
    HEADER = 8        # numbers of a line: ``tfprof.core.wire.xspace_lines.HEADER``
    UNKNOWN = -1      # the end of a line that was not walked
    ALL_OFFSETS = 1   # bits of what ``count`` and ``read`` return
    MISFIT = 2
    CHANGED = 4
    AHEAD = 96        # bytes behind an event that the usual way may look at

include "xspace_lines.pxi"
include "xspace_count.pxi"
include "xspace_read.pxi"
