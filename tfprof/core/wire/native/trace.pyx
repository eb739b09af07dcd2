# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Events of threads as JSON text; ``tfprof.captures.trace.blocks`` has the Python of it."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

cdef enum:
    UINT64 = 3
    INT64 = 4
    STR = 5
    REF = 7
    PS_PER_US = 1000000
    LONGEST_NUMBER = 24

cdef int64_t EXACT = 1 << 53


cdef class _Text:
    """Bytes that grow."""

    cdef char* data
    cdef Py_ssize_t size, room

    def __cinit__(self):
        self.size, self.room = 0, 1 << 20
        self.data = <char*>malloc(self.room)
        if self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.data)

    cdef int want(self, Py_ssize_t more) except -1:
        """Make room."""
        cdef char* grown
        cdef Py_ssize_t room = self.room
        if self.size + more <= room:
            return 0
        while room < self.size + more:
            room *= 2
        grown = <char*>realloc(self.data, room)
        if grown == NULL:
            raise MemoryError
        self.data, self.room = grown, room
        return 0

    cdef int put(self, const char* data, Py_ssize_t size) except -1:
        self.want(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

    cdef int put_text(self, object text) except -1:
        cdef Py_ssize_t size
        cdef const char* data = PyUnicode_AsUTF8AndSize(text, &size)
        return self.put(data, size)

    cdef int put_needed(self, list texts, int32_t number) except -1:
        """The text of that number, which has to be there."""
        if not 0 <= number < len(texts):
            raise ValueError("no such text")
        return self.put_text(texts[number])

    cdef int put_unsigned(self, uint64_t value) except -1:
        cdef char digits[LONGEST_NUMBER]
        cdef int place = LONGEST_NUMBER
        while True:
            place -= 1
            digits[place] = <char>(48 + value % 10)
            value //= 10
            if not value:
                break
        return self.put(&digits[place], LONGEST_NUMBER - place)

    cdef int put_signed(self, int64_t value) except -1:
        if value < 0:
            self.put(b"-", 1)
            return self.put_unsigned(<uint64_t>0 - <uint64_t>value)
        return self.put_unsigned(<uint64_t>value)

    cdef int put_micros(self, int64_t ps) except -1:
        """Picoseconds as microseconds with six digits behind the point."""
        cdef char digits[7]
        cdef int place
        cdef uint64_t whole, rest
        if ps < 0:
            self.put(b"-", 1)
        whole = <uint64_t>0 - <uint64_t>ps if ps < 0 else <uint64_t>ps
        rest = whole % PS_PER_US
        self.put_unsigned(whole // PS_PER_US)
        digits[0] = 46
        for place in range(6, 0, -1):
            digits[place] = <char>(48 + rest % 10)
            rest //= 10
        return self.put(digits, 7)


cdef int put_stat(
    _Text out,
    uint8_t kind,
    int64_t value,
    list references,
    const uint8_t[::1] data,
    bint all_texts,
    object value_text,
) except -1:
    """The value of a stat."""
    if kind == INT64 and (all_texts or -EXACT < value < EXACT):
        if all_texts:
            out.put(b'"', 1)
        out.put_signed(value)
        if all_texts:
            out.put(b'"', 1)
    elif kind == UINT64 and all_texts:
        out.put(b'"', 1)
        out.put_unsigned(<uint64_t>value)
        out.put(b'"', 1)
    elif kind == REF:
        if not 0 <= value < len(references):
            raise ValueError("no such reference")
        out.put_text(references[value])
    elif kind != STR or not put_plain(out, data, value):
        out.put_text(value_text(kind, value))
    return 0


cdef int put_plain(_Text out, const uint8_t[::1] data, int64_t place) except -1:
    """The text whose length stands at a place; 0 if it has characters that are written otherwise."""
    cdef int64_t end = data.shape[0], at
    cdef uint64_t length = 0
    cdef int shift = 0
    while True:
        if not 0 <= place < end or shift > 56:
            raise ValueError("no text there")
        length |= <uint64_t>(data[place] & 0x7F) << shift
        place += 1
        if data[place - 1] < 0x80:
            break
        shift += 7
    if length > <uint64_t>(end - place):
        raise ValueError("no text there")
    for at in range(place, place + <int64_t>length):
        if data[at] < 0x20 or data[at] > 0x7E or data[at] == 0x22 or data[at] == 0x5C:
            return 0
    out.put(b'"', 1)
    if length:
        out.put(<const char*>&data[place], <Py_ssize_t>length)
    out.put(b'"', 1)
    return 1


def events_text(
    times,
    columns,
    stats,
    bint all_texts,
    object value_text,
):
    """Events as JSON, with commas and line ends between them.

    Args:
        times: Starts and durations in ps, int64.
        columns: Pairs of numbers, int32, -1 for none, and the texts that they are of:
            process and thread first, names, then arguments.
        stats: None, or of own stats: the end of each event's, int64; heads, int32, -1 for what
            is not shown; kinds, uint8; values, int64, of references places in their texts; texts
            of heads; texts of references; what texts are read from.
        all_texts: Whether numbers are texts, too.
        value_text: Makes the text of a value of a kind that is not made here.

    Raises:
        ValueError: The columns do not fit each other, or a place is out of range.
    """
    cdef const int64_t[::1] starts = times[0], durations = times[1]
    cdef Py_ssize_t n = starts.shape[0], event, row = 0, end = 0, place
    cdef Py_ssize_t n_columns = len(columns)
    cdef list texts, heads = [], references = []
    cdef list of_columns = [list(pair[1]) if not isinstance(pair[1], list) else pair[1]
                            for pair in columns]
    cdef const int32_t** numbers
    cdef const int32_t[::1] ids
    cdef const int64_t[::1] ends
    cdef const int32_t[::1] head_ids
    cdef const uint8_t[::1] kinds
    cdef const int64_t[::1] values
    cdef const uint8_t[::1] data
    cdef bint has_stats = stats is not None, has_args
    cdef int32_t number
    cdef _Text out = _Text()
    if durations.shape[0] != n or n_columns < 2:
        raise ValueError("columns of different lengths")
    if has_stats:
        ends, head_ids, kinds, values = stats[:4]
        heads, references, data = list(stats[4]) if not isinstance(stats[4], list) else stats[4], stats[5], stats[6]
        if ends.shape[0] != n or head_ids.shape[0] != kinds.shape[0] \
                or kinds.shape[0] != values.shape[0]:
            raise ValueError("columns of different lengths")
    held = []
    numbers = <const int32_t**>malloc(n_columns * sizeof(int32_t*))
    if numbers == NULL:
        raise MemoryError
    try:
        for place in range(n_columns):
            ids = columns[place][0]
            held.append(ids)
            if ids.shape[0] != n:
                raise ValueError("columns of different lengths")
            numbers[place] = &ids[0] if n else NULL
        for event in range(n):
            if event:
                out.put(b",\n", 2)
            if durations[event]:
                out.put(b'{"ph":"X",', 10)
            else:
                out.put(b'{"ph":"i","s":"t",', 18)
            out.put_needed(of_columns[0], numbers[0][event])
            out.put(b',"ts":', 6)
            out.put_micros(starts[event])
            if durations[event]:
                out.put(b',"dur":', 7)
                out.put_micros(durations[event])
            out.put(b',"name":', 8)
            out.put_needed(of_columns[1], numbers[1][event])
            has_args = False
            for place in range(2, n_columns):
                number = numbers[place][event]
                if number < 0:
                    continue
                texts = of_columns[place]
                if number >= len(texts):
                    raise ValueError("no such text")
                text = texts[number]
                if not text:
                    continue
                out.put(b"," if has_args else b',"args":{', 1 if has_args else 9)
                has_args = True
                out.put_text(text)
            if has_stats:
                end = ends[event]
                if not row <= end <= kinds.shape[0]:
                    raise ValueError("stats out of order")
                while row < end:
                    if head_ids[row] >= 0:
                        if head_ids[row] >= len(heads):
                            raise ValueError("no such head")
                        out.put(b"," if has_args else b',"args":{', 1 if has_args else 9)
                        has_args = True
                        out.put_text(heads[head_ids[row]])
                        put_stat(out, kinds[row], values[row], references, data, all_texts,
                                 value_text)
                    row += 1
            if has_args:
                out.put(b"}}", 2)
            else:
                out.put(b"}", 1)
    finally:
        free(numbers)
    return PyBytes_FromStringAndSize(out.data, out.size)
