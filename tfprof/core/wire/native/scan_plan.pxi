# A plan as the walk reads it, checked once: whatever passes cannot lead the walk astray.

from libc.stdint cimport int64_t

# Kinds of actions: ``tfprof.core.wire.plan`` has the same numbers.
cdef enum:
    SKIP, INT64, INT32, UINT32, BOOL, SINT64, SINT32, FIXED64, FIXED32, TEXT, MESSAGE, ROWS
    VALUES

cdef enum:
    ACTION_SIZE = 7
    SPAN_SIZE = 3

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


cdef int check_plan(
    const int64_t[::1] actions, const int64_t[::1] levels, const int64_t[::1] slots
) except -1:
    """Refuse a plan that is not one: tables and levels come before those in them."""
    cdef Py_ssize_t n_levels = levels.shape[0] // SPAN_SIZE
    cdef Py_ssize_t n_actions = actions.shape[0] // ACTION_SIZE
    cdef Py_ssize_t place, number
    cdef const Level* level
    cdef const Action* action
    cdef list tables = [-1] * n_levels   # that the fields of each level belong to
    if levels.shape[0] % SPAN_SIZE or actions.shape[0] % ACTION_SIZE:
        raise ValueError("a plan has seven numbers for an action and three for a level")
    if not n_levels or not slots.shape[0] or min(slots) < 1:
        raise ValueError("a plan has a level and a table, and each table a column")
    tables[0] = 0
    for place in range(n_levels):
        level = <const Level*>&levels[place * SPAN_SIZE]
        if not (0 <= level.first and 0 < level.size <= n_actions - level.first):
            raise ValueError(f"level {place} has other actions than there are")
        if not 0 <= level.depth <= MAX_DEPTH or (place and tables[place] < 0):
            raise ValueError(f"level {place} stands in no other")
        for number in range(level.size):
            action = <const Action*>&actions[(level.first + number) * ACTION_SIZE]
            if number == 0 and action.kind != SKIP:
                raise ValueError("there is no field 0")
            if action.kind != SKIP:
                check_action(action, level, place, levels, slots, tables)
    return 0


cdef int check_action(
    const Action* action,
    const Level* level,
    Py_ssize_t place,
    const int64_t[::1] levels,
    const int64_t[::1] slots,
    list tables,
) except -1:
    """Refuse an action whose columns, table or level are not there."""
    cdef int64_t table = tables[place]
    cdef int64_t n_slots = slots[table]
    cdef int64_t n_values = 2 if action.element == TEXT else 1
    cdef bint fits
    if action.kind == ROWS or action.kind == VALUES:
        fits = table < action.table < slots.shape[0]
        if fits and action.kind == VALUES:
            fits = slots[action.table] > n_values
    elif action.kind == MESSAGE:
        fits = action.slot < n_slots
    else:
        fits = SKIP < action.kind <= TEXT and 0 < action.slot and action.slot + n_values <= n_slots
        if fits and action.which >= 0:
            fits = 0 < action.which < n_slots and action.slot + 2 <= n_slots
    if fits and (action.kind == ROWS or action.kind == MESSAGE):
        fits = place < action.level < levels.shape[0] // SPAN_SIZE
        if fits:
            fits = levels[action.level * SPAN_SIZE + 2] == level.depth + 1
        if fits:
            tables[action.level] = action.table if action.kind == ROWS else table
    if not fits:
        raise ValueError(f"an action of level {place} leads to nowhere")
    return 0
