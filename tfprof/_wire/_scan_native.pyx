# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The native scanner: walks serialized messages by a compiled plan, without the GIL.

Every read is checked against the end of the message that it belongs to. The walk recurses only
where the plan does, which has no cycles; groups, which no plan asks for, are skipped with a
counter. Whatever protobuf would refuse ends the scan with -1, and protobuf is asked to say why.
"""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_SIMPLE, PyBUF_WRITABLE, Py_buffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

# Kinds of actions and wire types: ``tfprof._wire.plan`` has the same numbers.
cdef enum:
    SKIP, INT64, INT32, UINT32, BOOL, SINT64, SINT32, FIXED64, FIXED32, TEXT, MESSAGE, ROWS
    VALUES, PACKED
cdef enum:
    WIRE_VARINT = 0
    WIRE_64 = 1
    WIRE_LENGTH = 2
    WIRE_START_GROUP = 3
    WIRE_END_GROUP = 4
    WIRE_32 = 5

cdef enum:
    ACTION_SIZE = 7
    MAX_DEPTH = 100   # protobuf's limit, of messages and groups together
    FIRST_ROWS = 64
    BYTES_OF_ROW = 512    # of the message, for the first guess at the number of rows

ctypedef struct Action:
    int64_t kind
    int64_t wire
    int64_t slot      # of the table's columns; -1: none
    int64_t level     # of the message inside
    int64_t table     # that gets a row
    int64_t element   # kind of the values of a repeated field
    int64_t which     # slot for the number of a oneof's member, -1: none

ctypedef struct Level:
    int64_t first     # its actions, by field number
    int64_t size
    int64_t depth     # how many messages are around it

ctypedef struct Table:
    int64_t n_rows
    int64_t capacity
    int64_t first_capacity
    int64_t n_slots
    int64_t** slots

ctypedef struct Scan:
    const uint8_t* data
    const Action* actions
    const Level* levels
    Table* tables


cdef inline const uint8_t* read_varint(
    const uint8_t* at, const uint8_t* end, uint64_t* value
) noexcept nogil:
    """The number at a place; returns the place behind it, NULL if it is cut off or too long."""
    cdef uint64_t result = 0
    cdef int shift = 0
    cdef uint8_t byte
    while at < end and shift < 70:
        byte = at[0]
        at += 1
        if shift < 64:
            result |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            value[0] = result
            return at
        shift += 7
    return NULL


cdef inline const uint8_t* read_tag(
    const uint8_t* at, const uint8_t* end, uint64_t* tag
) noexcept nogil:
    """A field's number and wire type; protobuf reads no more than five bytes."""
    cdef const uint8_t* start = at
    if at < end and at[0] < 0x80:
        tag[0] = at[0]
        return at + 1
    at = read_varint(at, end, tag)
    if at == NULL or at - start > 5 or tag[0] >> 32 != 0:
        return NULL
    return at


cdef inline const uint8_t* read_size(
    const uint8_t* at, const uint8_t* end, int64_t* size
) noexcept nogil:
    """The length of what follows, which must be there."""
    cdef uint64_t value = 0
    cdef const uint8_t* start = at
    if at < end and at[0] < 0x80:
        value = at[0]
        at += 1
    else:
        at = read_varint(at, end, &value)
        if at == NULL or at - start > 5 or value >> 31 != 0:
            return NULL
    if <int64_t>value > end - at:
        return NULL
    size[0] = <int64_t>value
    return at


cdef inline int64_t number_of(int64_t kind, uint64_t value) noexcept nogil:
    """What a varint means to a field of some type."""
    if kind == INT64:
        return <int64_t>value
    if kind == INT32:
        return <int32_t><uint32_t>value
    if kind == UINT32:
        return <uint32_t>value
    if kind == BOOL:
        return value != 0
    if kind == SINT64:
        return <int64_t>((value >> 1) ^ (~(value & 1) + 1))
    return <int32_t>((<uint32_t>value >> 1) ^ (~(<uint32_t>value & 1) + 1))


cdef int64_t add_row(Table* table, int64_t parent) noexcept nogil:
    """A row of zeros; returns its place, -1 if there is no memory."""
    cdef int64_t row = table.n_rows
    cdef int64_t slot, capacity
    cdef int64_t* grown
    if row == table.capacity:
        capacity = table.first_capacity if row == 0 else row * 2
        for slot in range(table.n_slots):
            if row == 0:  # pages that nobody touches cost nothing
                grown = <int64_t*>calloc(capacity, sizeof(int64_t))
            else:
                grown = <int64_t*>realloc(table.slots[slot], capacity * sizeof(int64_t))
            if grown == NULL:
                return -1
            if row:
                memset(grown + row, 0, (capacity - row) * sizeof(int64_t))
            table.slots[slot] = grown
        table.capacity = capacity
    table.slots[0][row] = parent
    table.n_rows = row + 1
    return row


cdef const uint8_t* skip_group(
    const uint8_t* at, const uint8_t* end, uint64_t number, int64_t above
) noexcept nogil:
    """The place behind the end mark of a group, which so many messages are around."""
    cdef uint64_t open_groups[MAX_DEPTH]
    cdef int depth = 0
    cdef uint64_t tag = 0, value = 0
    cdef int64_t size = 0
    if above >= MAX_DEPTH:
        return NULL
    open_groups[0] = number
    while at < end:
        at = read_tag(at, end, &tag)
        if at == NULL or tag >> 3 == 0:
            return NULL
        if tag & 7 == WIRE_VARINT:
            at = read_varint(at, end, &value)
            if at == NULL:
                return NULL
        elif tag & 7 == WIRE_64:
            if end - at < 8:
                return NULL
            at += 8
        elif tag & 7 == WIRE_LENGTH:
            at = read_size(at, end, &size)
            if at == NULL:
                return NULL
            at += size
        elif tag & 7 == WIRE_32:
            if end - at < 4:
                return NULL
            at += 4
        elif tag & 7 == WIRE_START_GROUP:
            depth += 1
            if depth + above >= MAX_DEPTH:
                return NULL
            open_groups[depth] = tag >> 3
        elif tag & 7 == WIRE_END_GROUP:
            if open_groups[depth] != tag >> 3:
                return NULL
            depth -= 1
            if depth < 0:
                return at
        else:
            return NULL
    return NULL


cdef inline int store(
    Scan* scan, const Action* action, int64_t table, int64_t row, int64_t value, int64_t number
) noexcept nogil:
    """A number goes into its column, or into a row of its own."""
    cdef Table* target
    if action.kind == VALUES:
        target = &scan.tables[action.table]
        row = add_row(target, row)
        if row < 0:
            return -1
        target.slots[1][row] = value
        return 0
    target = &scan.tables[table]
    target.slots[action.slot][row] = value
    if action.which >= 0:
        target.slots[action.slot + 1][row] = 0  # the length of a text that stood before
        target.slots[action.which][row] = number
    return 0


cdef int store_packed(
    Scan* scan, const Action* action, int64_t row, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """Numbers one behind the other."""
    cdef uint64_t value = 0
    cdef uint32_t bits = 0
    while at < end:
        if action.wire == WIRE_VARINT:
            at = read_varint(at, end, &value)
            if at == NULL:
                return -1
            if store(scan, action, 0, row, number_of(action.element, value), 0) < 0:
                return -1
        elif action.wire == WIRE_64:
            if end - at < 8:
                return -1
            memcpy(&value, at, 8)
            at += 8
            if store(scan, action, 0, row, <int64_t>value, 0) < 0:
                return -1
        else:
            if end - at < 4:
                return -1
            memcpy(&bits, at, 4)
            at += 4
            if store(scan, action, 0, row, <int64_t>bits, 0) < 0:
                return -1
    return 0


cdef int walk(
    Scan* scan, int64_t level, int64_t table, int64_t row, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """One message, whose fields belong to a row; 0, or -1 if it is broken."""
    cdef const Level* here = &scan.levels[level]
    cdef const Action* action
    cdef uint64_t tag = 0, value = 0, number
    cdef uint32_t bits = 0
    cdef int64_t size = 0, child
    cdef Table* target
    while at < end:
        at = read_tag(at, end, &tag)
        if at == NULL:
            return -1
        number = tag >> 3
        if number == 0:
            return -1
        action = NULL
        if <int64_t>number < here.size:
            action = &scan.actions[here.first + <int64_t>number]
            if action.kind == SKIP:
                action = NULL
        if tag & 7 == WIRE_VARINT:
            at = read_varint(at, end, &value)
            if at == NULL:
                return -1
            if action != NULL and action.wire == WIRE_VARINT:
                if store(scan, action, table, row, number_of(action.element, value), number) < 0:
                    return -1
        elif tag & 7 == WIRE_LENGTH:
            at = read_size(at, end, &size)
            if at == NULL:
                return -1
            if action != NULL:
                if action.kind == ROWS:
                    child = add_row(&scan.tables[action.table], row)
                    if child < 0:
                        return -1
                    if walk(scan, action.level, action.table, child, at, at + size) < 0:
                        return -1
                elif action.kind == MESSAGE:
                    if action.slot >= 0:
                        scan.tables[table].slots[action.slot][row] = 1
                    if walk(scan, action.level, table, row, at, at + size) < 0:
                        return -1
                elif action.kind == TEXT:
                    target = &scan.tables[table]
                    target.slots[action.slot][row] = at - scan.data
                    target.slots[action.slot + 1][row] = size
                    if action.which >= 0:
                        target.slots[action.which][row] = <int64_t>number
                elif action.kind == VALUES and action.element == TEXT:
                    target = &scan.tables[action.table]
                    child = add_row(target, row)
                    if child < 0:
                        return -1
                    target.slots[1][child] = at - scan.data
                    target.slots[2][child] = size
                elif action.kind == VALUES:
                    if store_packed(scan, action, row, at, at + size) < 0:
                        return -1
            at += size
        elif tag & 7 == WIRE_64:
            if end - at < 8:
                return -1
            memcpy(&value, at, 8)
            at += 8
            if action != NULL and action.wire == WIRE_64:
                if store(scan, action, table, row, <int64_t>value, number) < 0:
                    return -1
        elif tag & 7 == WIRE_32:
            if end - at < 4:
                return -1
            memcpy(&bits, at, 4)
            at += 4
            if action != NULL and action.wire == WIRE_32:
                if store(scan, action, table, row, <int64_t>bits, number) < 0:
                    return -1
        elif tag & 7 == WIRE_START_GROUP:
            at = skip_group(at, end, number, here.depth)
            if at == NULL:
                return -1
        else:
            return -1
    return 0


cdef char* FORMAT = b"q"


cdef class Memory:
    """A column: memory that NumPy reads in place, freed with the last array on it."""

    cdef int64_t* start
    cdef Py_ssize_t size
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        free(self.start)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        self.shape[0] = self.size
        buffer.buf = self.start if self.start != NULL else <void*>self.shape
        buffer.obj = self
        buffer.len = self.size * sizeof(int64_t)
        buffer.itemsize = sizeof(int64_t)
        buffer.readonly = 0
        buffer.ndim = 1
        buffer.format = FORMAT if flags & PyBUF_FORMAT else NULL
        buffer.shape = self.shape if flags & PyBUF_ND else NULL
        buffer.strides = &buffer.itemsize if flags & 0x10 else NULL
        buffer.suboffsets = NULL
        buffer.internal = NULL


cdef Memory memory_of(int64_t* start, int64_t n_rows):
    """Take over what ``realloc`` gave, without what is not used of it."""
    cdef Memory memory = Memory()
    cdef int64_t* fitted
    memory.start = start
    memory.size = n_rows
    if n_rows:
        fitted = <int64_t*>realloc(start, n_rows * sizeof(int64_t))
        if fitted != NULL:
            memory.start = fitted
    return memory


def scan(
    const uint8_t[::1] data,
    const int64_t[::1] actions,
    const int64_t[::1] levels,
    const int64_t[::1] slots_of_tables,
    Py_ssize_t start,
    Py_ssize_t stop,
    int64_t level,
    int64_t table,
):
    """Scan one message.

    Args:
        data: Holds the message.
        actions: Seven numbers for each action.
        levels: First action, number of actions and depth of each level.
        slots_of_tables: How many columns each table has.
        start: First byte of the message.
        stop: One past its last byte.
        level: What it is.
        table: The table that it is a row of.

    Returns:
        The columns of each table; or None if the message is broken.

    Raises:
        MemoryError: There is not enough.
    """
    cdef Py_ssize_t n_tables = slots_of_tables.shape[0]
    cdef Scan state
    cdef Py_ssize_t i
    cdef int64_t slot, row
    cdef int outcome = -1
    cdef uint8_t nothing = 0
    if not 0 <= start <= stop <= data.shape[0]:
        raise ValueError("the message is not in the data")
    state.data = &data[0] if data.shape[0] else &nothing
    state.actions = <const Action*>&actions[0]
    state.levels = <const Level*>&levels[0]
    state.tables = <Table*>calloc(n_tables, sizeof(Table))
    if state.tables == NULL:
        raise MemoryError
    try:
        for i in range(n_tables):
            state.tables[i].n_slots = slots_of_tables[i]
            state.tables[i].first_capacity = FIRST_ROWS + (stop - start) // BYTES_OF_ROW
            state.tables[i].slots = <int64_t**>calloc(slots_of_tables[i], sizeof(int64_t*))
            if state.tables[i].slots == NULL:
                raise MemoryError
        with nogil:
            row = add_row(&state.tables[table], 0)
            if row >= 0:
                outcome = walk(&state, level, table, row, state.data + start, state.data + stop)
        if outcome < 0:
            return None
        result = []
        for i in range(n_tables):
            columns = []
            for slot in range(slots_of_tables[i]):
                columns.append(memory_of(state.tables[i].slots[slot], state.tables[i].n_rows))
                state.tables[i].slots[slot] = NULL
            result.append(columns)
        return result
    finally:
        for i in range(n_tables):
            if state.tables[i].slots != NULL:
                for slot in range(slots_of_tables[i]):
                    free(state.tables[i].slots[slot])
                free(state.tables[i].slots)
        free(state.tables)


cdef inline uint64_t mixed(uint64_t value) noexcept nogil:
    value ^= value >> 32
    value *= <uint64_t>0xD6E8FEB86659FD93
    value ^= value >> 32
    return value


cdef uint64_t hash_of(const uint8_t* text, int64_t length) noexcept nogil:
    """A hash of a text, eight bytes at a time."""
    cdef uint64_t result = <uint64_t>length
    cdef uint64_t word
    while length >= 8:
        memcpy(&word, text, 8)
        result = mixed(result ^ word) + word
        text += 8
        length -= 8
    word = 0
    memcpy(&word, text, length)
    return mixed(result ^ word)


cdef class TextIndex:
    """Texts by number, and numbers by text; the numbers count from 0 in order of appearance.

    Threads may share one: each call holds its lock.
    """

    cdef cython.pymutex lock
    cdef uint8_t* arena
    cdef int64_t used, room
    cdef int64_t* starts       # of each text in the arena, and one more: the end of the last
    cdef uint64_t* hashes
    cdef int64_t count, places
    cdef int64_t* slots        # open addressing: a number, or -1
    cdef int64_t mask

    def __cinit__(self):
        self.mask = 63
        self.slots = <int64_t*>malloc(64 * sizeof(int64_t))
        self.starts = <int64_t*>calloc(1, sizeof(int64_t))
        if self.slots == NULL or self.starts == NULL:
            raise MemoryError
        memset(self.slots, 0xFF, 64 * sizeof(int64_t))

    def __dealloc__(self):
        free(self.arena)
        free(self.starts)
        free(self.hashes)
        free(self.slots)

    def __len__(self):
        return self.count

    def __getitem__(self, int64_t number):
        cdef int64_t start
        with self.lock:
            if not 0 <= number < self.count:
                raise IndexError(number)
            start = self.starts[number]
            return (<const char*>self.arena)[start:self.starts[number + 1]]

    cdef int64_t look_up(self, const uint8_t* text, int64_t length, uint64_t key) noexcept nogil:
        cdef int64_t place = <int64_t>key & self.mask
        cdef int64_t number = self.slots[place]
        while number >= 0:
            if self.hashes[number] == key:
                if self.starts[number + 1] - self.starts[number] == length:
                    if memcmp(self.arena + self.starts[number], text, length) == 0:
                        return number
            place = (place + 1) & self.mask
            number = self.slots[place]
        return -1

    cdef int64_t append(self, const uint8_t* text, int64_t length, uint64_t key) noexcept nogil:
        """Give a new text the next number; -1 if there is no memory."""
        if self.make_room(length) < 0:
            return -1
        memcpy(self.arena + self.used, text, length)
        self.used += length
        self.hashes[self.count] = key
        self.enter(self.count)
        self.count += 1
        self.starts[self.count] = self.used
        return self.count - 1

    cdef void enter(self, int64_t number) noexcept nogil:
        cdef int64_t place = <int64_t>self.hashes[number] & self.mask
        while self.slots[place] >= 0:
            place = (place + 1) & self.mask
        self.slots[place] = number

    cdef int make_room(self, int64_t length) noexcept nogil:
        cdef int64_t size, number
        cdef void* grown
        if self.used + length > self.room or self.arena == NULL:
            size = 2 * (self.used + length) + 4096
            grown = realloc(self.arena, size)
            if grown == NULL:
                return -1
            self.arena = <uint8_t*>grown
            self.room = size
        if self.count == self.places:
            size = 2 * self.places + 64
            grown = realloc(self.starts, (size + 1) * sizeof(int64_t))
            if grown == NULL:
                return -1
            self.starts = <int64_t*>grown
            grown = realloc(self.hashes, size * sizeof(uint64_t))
            if grown == NULL:
                return -1
            self.hashes = <uint64_t*>grown
            self.places = size
        if 2 * (self.count + 1) > self.mask:
            size = 4 * (self.mask + 1)
            grown = realloc(self.slots, size * sizeof(int64_t))
            if grown == NULL:
                return -1
            self.slots = <int64_t*>grown
            self.mask = size - 1
            memset(self.slots, 0xFF, size * sizeof(int64_t))
            for number in range(self.count):
                self.enter(number)
        return 0

    def extend(self, list texts):
        """Number texts, each of which is new.

        Args:
            texts: Texts that are not there yet, as ``str``.
        """
        cdef bytes encoded
        cdef const uint8_t* start
        cdef int64_t length
        for text in texts:
            encoded = (<str>text).encode("utf-8", "surrogatepass")
            start = <const uint8_t*><const char*>encoded
            length = len(encoded)
            with self.lock:
                if self.append(start, length, hash_of(start, length)) < 0:
                    raise MemoryError

    def find(self, const uint8_t[::1] data, const int64_t[::1] start, const int64_t[::1] length):
        """Number of each text of a buffer, -1 for a text that is not there."""
        return self.numbers(data, start, length, False)

    def intern(self, const uint8_t[::1] data, const int64_t[::1] start, const int64_t[::1] length):
        """The same; texts that are not there get the next numbers."""
        return self.numbers(data, start, length, True)

    cdef Memory numbers(
        self,
        const uint8_t[::1] data,
        const int64_t[::1] start,
        const int64_t[::1] length,
        bint adds,
    ):
        cdef Py_ssize_t n = start.shape[0], i
        cdef Py_ssize_t size = data.shape[0]
        cdef uint8_t nothing = 0
        cdef const uint8_t* base = &data[0] if size else &nothing
        cdef int64_t* found
        cdef uint64_t key
        cdef int failure = 0
        if length.shape[0] != n:
            raise ValueError("as many lengths as starts are needed")
        found = <int64_t*>malloc(n * sizeof(int64_t) if n else 1)
        if found == NULL:
            raise MemoryError
        with nogil, self.lock:
            for i in range(n):
                if start[i] < 0 or length[i] < 0 or start[i] > size - length[i]:
                    failure = 1
                    break
                key = hash_of(base + start[i], length[i])
                found[i] = self.look_up(base + start[i], length[i], key)
                if found[i] < 0 and adds:
                    found[i] = self.append(base + start[i], length[i], key)
                    if found[i] < 0:
                        failure = 2
                        break
        if failure:
            free(found)
            if failure == 1:
                raise ValueError("a text is not in the buffer")
            raise MemoryError
        return memory_of(found, n)
