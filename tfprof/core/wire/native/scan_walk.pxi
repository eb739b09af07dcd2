# The walk over a message. It recurses only where the plan does, which has no cycles.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

# What to do at a tag. The common ways have a short one of their own.
cdef enum:
    REFUSE, PASS_VARINT, PASS_64, PASS_BYTES, PASS_32, PASS_GROUP
    PUT_INT64, PUT_TEXT, PUT_MESSAGE, PUT_ROW, PUT_NUMBER, PUT_MEMBER, PUT_VALUES

cdef enum:
    SHORT_TAGS = 128   # those of one byte

ctypedef struct Field:
    int64_t todo
    const Action* action

ctypedef struct Scan:
    const uint8_t* data
    const uint8_t* first   # of what is walked over
    const uint8_t* last
    const Action* actions
    const Level* levels
    const Field* fields    # by level and short tag
    Table* tables
    bint lacks_memory


cdef int64_t todo_at(const Action* action, uint64_t wire) noexcept nogil:
    """What to do where an action meets a wire type."""
    cdef bint fits = action.kind != SKIP and (
        action.wire == <int64_t>wire or (action.kind == VALUES and wire == WIRE_LENGTH)
    )
    if wire == WIRE_START_GROUP:
        return PASS_GROUP
    if wire == WIRE_END_GROUP or wire > WIRE_32:
        return REFUSE
    if not fits:
        if wire == WIRE_VARINT:
            return PASS_VARINT
        return PASS_64 if wire == WIRE_64 else PASS_32 if wire == WIRE_32 else PASS_BYTES
    if action.kind == VALUES:
        return PUT_VALUES
    if action.kind == ROWS:
        return PUT_ROW
    if action.kind == MESSAGE:
        return PUT_MESSAGE
    if action.which >= 0:
        return PUT_MEMBER
    if action.kind == TEXT:
        return PUT_TEXT
    return PUT_INT64 if action.kind == INT64 else PUT_NUMBER


cdef void fill_fields(const Action* actions, const Level* level, Field* fields) noexcept:
    """What to do at each short tag of a message."""
    cdef uint64_t tag
    cdef const Action* action
    for tag in range(SHORT_TAGS):
        action = &actions[level.first]   # number 0: fields outside the plan have no action
        if <int64_t>(tag >> 3) < level.size:
            action += tag >> 3
        fields[tag].todo = todo_at(action, tag & 7) if tag >> 3 else REFUSE
        fields[tag].action = action


cdef inline int64_t number_of(int64_t kind, uint64_t value) noexcept nogil:
    """What a number on the wire means to a field of some type."""
    if kind == INT32:
        return <int32_t><uint32_t>value
    if kind == UINT32:
        return <uint32_t>value
    if kind == BOOL:
        return value != 0
    if kind == SINT64:
        return <int64_t>((value >> 1) ^ (~(value & 1) + 1))
    if kind == SINT32:
        return <int32_t>((<uint32_t>value >> 1) ^ (~(<uint32_t>value & 1) + 1))
    return <int64_t>value


cdef inline const uint8_t* read_number(
    uint64_t wire, const uint8_t* at, const uint8_t* end, uint64_t* value
) noexcept nogil:
    """A varint or the bits of a number of fixed size; NULL if it is cut off."""
    cdef int size = 8 if wire == WIRE_64 else 4
    cdef int place
    if wire == WIRE_VARINT:
        return read_varint(at, end, value)
    if end - at < size:
        return NULL
    value[0] = 0
    for place in range(size):  # the lowest byte first, whatever the machine's order
        value[0] |= <uint64_t>at[place] << 8 * place
    return at + size


cdef int make_room(Scan* scan, Table* table, const uint8_t* at) noexcept nogil:
    if grow(table, <double>(at - scan.first) / <double>(scan.last - scan.first)) == 0:
        return 0
    scan.lacks_memory = True
    return -1


cdef inline int64_t add_row(
    Scan* scan, int64_t number, int64_t parent, const uint8_t* at
) noexcept nogil:
    """A row of zeros for what stands at a place; -1 if there is no memory."""
    cdef Table* table = &scan.tables[number]
    cdef int64_t row = table.n_rows
    if row == table.capacity and make_room(scan, table, at) < 0:
        return -1
    table.slots[0][row] = parent
    table.n_rows = row + 1
    return row


cdef const uint8_t* put_values(
    Scan* scan,
    const Action* action,
    uint64_t wire,
    int64_t row,
    const uint8_t* at,
    const uint8_t* end,
) noexcept nogil:
    """Elements of a repeated field: one, or packed numbers; NULL if they are broken."""
    cdef int64_t child, size = 0
    cdef uint64_t value = 0
    cdef const uint8_t* stop
    if at == end:
        return NULL
    stop = at + 1   # one number
    if wire == WIRE_LENGTH:
        at = read_size(at, end, &size)
        if at == NULL:
            return NULL
        stop = end = at + size
        if action.element == TEXT:
            child = add_row(scan, action.table, row, at)
            if child < 0:
                return NULL
            scan.tables[action.table].slots[1][child] = at - scan.data
            scan.tables[action.table].slots[2][child] = size
            return stop
    while at < stop:
        at = read_number(<uint64_t>action.wire, at, end, &value)
        if at == NULL:
            return NULL
        child = add_row(scan, action.table, row, at)
        if child < 0:
            return NULL
        scan.tables[action.table].slots[1][child] = number_of(action.element, value)
    return at


cdef const uint8_t* put_member(
    Scan* scan,
    const Action* action,
    uint64_t tag,
    int64_t** slots,
    int64_t row,
    const uint8_t* at,
    const uint8_t* end,
) noexcept nogil:
    """A member of a oneof; NULL if it is broken."""
    cdef uint64_t value = 0
    cdef int64_t size = 0
    if action.kind == TEXT:
        at = read_size(at, end, &size)
        if at == NULL:
            return NULL
        value = <uint64_t>(at - scan.data)
        at += size
    else:
        at = read_number(tag & 7, at, end, &value)
        if at == NULL:
            return NULL
        value = <uint64_t>number_of(action.element, value)
    slots[action.slot][row] = <int64_t>value
    slots[action.slot + 1][row] = size   # 0 instead of that of a text that stood before
    slots[action.which][row] = <int64_t>(tag >> 3)
    return at


cdef int walk(
    Scan* scan, int64_t level, int64_t table, int64_t row, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """One message, whose fields belong to a row; 0, or -1 if it is broken."""
    cdef const Level* here = &scan.levels[level]
    cdef const Field* fields = &scan.fields[level * SHORT_TAGS]
    cdef const Field* field
    cdef const Action* action
    cdef int64_t** slots = scan.tables[table].slots
    cdef uint64_t tag = 0, value = 0
    cdef int64_t size = 0, child, todo
    while at < end:
        if at[0] < SHORT_TAGS:
            tag = at[0]
            at += 1
            field = &fields[tag]
            todo, action = field.todo, field.action
        else:
            at = read_tag(at, end, &tag)
            if at == NULL or tag >> 3 == 0:
                return -1
            action = &scan.actions[here.first]
            if <int64_t>(tag >> 3) < here.size:
                action += tag >> 3
            todo = todo_at(action, tag & 7)
        if todo == PUT_INT64:
            at = read_number(WIRE_VARINT, at, end, &value)
            if at == NULL:
                return -1
            slots[action.slot][row] = <int64_t>value
        elif todo == PASS_VARINT:
            at = read_varint(at, end, &value)
            if at == NULL:
                return -1
        elif todo == PASS_BYTES:
            at = read_size(at, end, &size)
            if at == NULL:
                return -1
            at += size
        elif todo == PUT_TEXT:
            at = read_size(at, end, &size)
            if at == NULL:
                return -1
            slots[action.slot][row] = at - scan.data
            slots[action.slot + 1][row] = size
            at += size
        elif todo == PUT_MESSAGE:
            at = read_size(at, end, &size)
            if at == NULL:
                return -1
            if action.slot >= 0:
                slots[action.slot][row] = 1
            if walk(scan, action.level, table, row, at, at + size) < 0:
                return -1
            at += size
        elif todo == PUT_ROW:
            at = read_size(at, end, &size)
            if at == NULL:
                return -1
            child = add_row(scan, action.table, row, at)
            if child < 0 or walk(scan, action.level, action.table, child, at, at + size) < 0:
                return -1
            at += size
        elif todo == PUT_NUMBER:
            at = read_number(tag & 7, at, end, &value)
            if at == NULL:
                return -1
            slots[action.slot][row] = number_of(action.element, value)
        elif todo == PUT_VALUES:
            at = put_values(scan, action, tag & 7, row, at, end)
            if at == NULL:
                return -1
        elif todo == PUT_MEMBER:
            at = put_member(scan, action, tag, slots, row, at, end)
            if at == NULL:
                return -1
        elif todo == REFUSE:
            return -1
        elif todo == PASS_GROUP:
            at = skip_group(at, end, tag >> 3, here.depth)
            if at == NULL:
                return -1
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                return -1
    return 0
