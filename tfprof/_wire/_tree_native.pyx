# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The native walks of trees and names; ``tfprof._wire.tree_walks`` says what each gives.

Arrays that are written are the caller's, and their lengths are checked. A parent or a place that
lies outside raises ``ValueError`` or ends the walk: nothing is read or written beyond an array.
No walk recurses: a tree may be as deep as it has nodes.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.math cimport fabs, floor
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memchr, memcpy, memset

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    char* PyOS_double_to_string(
        double value, char format, int precision, int flags, int* kind
    ) except NULL
    void PyMem_Free(void* memory)

cdef enum:
    FEW = 12    # siblings are sorted by insertion up to here

ctypedef struct Text:
    const uint8_t* data
    Py_ssize_t size

ctypedef struct Sibling:
    int64_t key
    int64_t node


def subtree_sums(const int64_t[::1] parent, const int64_t[::1] values, int64_t[::1] sums):
    """Sum of the values over each subtree; wraps at 64 bits."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node
    cdef bint fits = True
    if values.shape[0] != n or sums.shape[0] != n:
        raise ValueError("columns of one tree differ in length")
    if n == 0:
        return
    cdef uint64_t* total
    with nogil:
        total = <uint64_t*>&sums[0]
        memcpy(total, &values[0], n * sizeof(int64_t))
        for node in range(n - 1, 0, -1):
            if not 0 <= parent[node] < node:
                fits = False
                break
            total[parent[node]] += total[node]
    if not fits:
        raise ValueError("a tree is not in preorder")


def path_sums(const int64_t[::1] parent, const int64_t[::1] values, int64_t[::1] sums):
    """Sum of the values from the root down to each node; wraps at 64 bits."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node
    cdef bint fits = True
    if values.shape[0] != n or sums.shape[0] != n:
        raise ValueError("columns of one tree differ in length")
    if n == 0:
        return
    with nogil:
        sums[0] = values[0]
        for node in range(1, n):
            if not 0 <= parent[node] < node:
                fits = False
                break
            sums[node] = <int64_t>(<uint64_t>sums[parent[node]] + <uint64_t>values[node])
    if not fits:
        raise ValueError("a tree is not in preorder")


cdef int by_key(const void* one, const void* other) noexcept nogil:
    cdef const Sibling* a = <const Sibling*>one
    cdef const Sibling* b = <const Sibling*>other
    if a.key != b.key:
        return -1 if a.key < b.key else 1
    return -1 if a.node < b.node else 1


cdef void sort_siblings(Sibling* siblings, int64_t n) noexcept nogil:
    """By key; those of the same key by number."""
    cdef int64_t place, free_place
    cdef Sibling moved
    if n > FEW:
        for place in range(1, n):
            if siblings[place].key < siblings[place - 1].key:
                qsort(siblings, n, sizeof(Sibling), &by_key)
                return
        return
    for place in range(1, n):
        moved = siblings[place]
        free_place = place
        while free_place > 0 and moved.key < siblings[free_place - 1].key:
            siblings[free_place] = siblings[free_place - 1]
            free_place -= 1
        siblings[free_place] = moved


def sorted_preorder(const int64_t[::1] parent, const int64_t[::1] keys, int64_t[::1] order):
    """Preorder of the tree whose siblings are sorted by their keys."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node
    if keys.shape[0] != n or order.shape[0] != n:
        raise ValueError("columns of one tree differ in length")
    for node in range(1, n):
        if not 0 <= parent[node] < node:
            raise ValueError("a tree is not in preorder")
    if n == 0:
        return
    cdef int64_t* first = <int64_t*>malloc((n + 2) * sizeof(int64_t))
    cdef int64_t* pending = <int64_t*>malloc(n * sizeof(int64_t))
    cdef Sibling* siblings = <Sibling*>malloc(n * sizeof(Sibling))
    try:
        if first == NULL or pending == NULL or siblings == NULL:
            raise MemoryError
        with nogil:
            lay_out(parent, keys, order, first, pending, siblings)
    finally:
        free(first)
        free(pending)
        free(siblings)


cdef void lay_out(
    const int64_t[::1] parent,
    const int64_t[::1] keys,
    int64_t[::1] order,
    int64_t* first,
    int64_t* pending,
    Sibling* siblings,
) noexcept nogil:
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node, place, size = 0, child
    for node in range(n + 2):
        first[node] = 0
    for node in range(1, n):
        first[parent[node] + 2] += 1
    for node in range(2, n + 2):
        first[node] += first[node - 1]
    # first[p + 1] walks from the start of the children of p to their end.
    for node in range(1, n):
        place = first[parent[node] + 1]
        siblings[place].key = keys[node]
        siblings[place].node = node
        first[parent[node] + 1] = place + 1
    pending[0] = 0
    size = 1
    place = 0
    while size:
        size -= 1
        node = pending[size]
        order[place] = node
        place += 1
        sort_siblings(siblings + first[node], first[node + 1] - first[node])
        for child in range(first[node + 1] - 1, first[node] - 1, -1):
            pending[size] = siblings[child].node
            size += 1


def depth_first(
    const int64_t[::1] offsets,
    const int64_t[::1] producers,
    const int64_t[::1] tops,
    int64_t[::1] order,
    int64_t[::1] parent,
):
    """Visit each op once from the tops along the inputs; returns how many were visited."""
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef Py_ssize_t n_edges = producers.shape[0]
    cdef Py_ssize_t visited = 0
    if n < 0 or order.shape[0] != n or parent.shape[0] != n + 1:
        raise ValueError("columns of one graph differ in length")
    cdef int64_t* ops = <int64_t*>malloc((n_edges + 1) * sizeof(int64_t))
    cdef int64_t* consumers = <int64_t*>malloc((n_edges + 1) * sizeof(int64_t))
    cdef uint8_t* seen = <uint8_t*>malloc(n + 1)
    try:
        if ops == NULL or consumers == NULL or seen == NULL:
            raise MemoryError
        with nogil:
            visited = visit(offsets, producers, tops, order, parent, ops, consumers, seen)
    finally:
        free(ops)
        free(consumers)
        free(seen)
    if visited < 0:
        raise ValueError("an edge leads out of the graph")
    return visited


cdef Py_ssize_t visit(
    const int64_t[::1] offsets,
    const int64_t[::1] producers,
    const int64_t[::1] tops,
    int64_t[::1] order,
    int64_t[::1] parent,
    int64_t* ops,
    int64_t* consumers,
    uint8_t* seen,
) noexcept nogil:
    """Each op is pushed once for each edge that leads to it, so the stack holds all edges."""
    cdef Py_ssize_t n = order.shape[0]
    cdef Py_ssize_t n_edges = producers.shape[0]
    cdef Py_ssize_t visited = 0, size, top, edge
    cdef int64_t op, consumer, producer
    for op in range(n):
        seen[op] = 0
        if not 0 <= offsets[op] <= offsets[op + 1] <= n_edges:
            return -1
    parent[0] = -1
    for top in range(tops.shape[0]):
        if not 0 <= tops[top] < n:
            return -1
        ops[0] = tops[top]
        consumers[0] = 0
        size = 1
        while size:
            size -= 1
            op = ops[size]
            consumer = consumers[size]
            if seen[op]:
                continue
            seen[op] = 1
            order[visited] = op
            visited += 1
            parent[visited] = consumer
            for edge in range(offsets[op + 1] - 1, offsets[op] - 1, -1):
                producer = producers[edge]
                if producer < 0 or (producer < n and seen[producer]):
                    continue
                if producer >= n:
                    return -1
                ops[size] = producer
                consumers[size] = visited
                size += 1
    return visited


def taken(list texts, const int64_t[::1] places):
    """The items at some places, as a list."""
    cdef Py_ssize_t n = places.shape[0]
    cdef Py_ssize_t i
    cdef list found = PyList_New(n)
    cdef object text
    for i in range(n):
        if not 0 <= places[i] < PyList_GET_SIZE(texts):
            raise IndexError(f"there is no text {places[i]}")
        text = <object>PyList_GET_ITEM(texts, places[i])
        Py_INCREF(text)
        PyList_SET_ITEM(found, i, text)
    return found


cdef struct Sort:
    const Text* texts
    int64_t* order        # places of texts
    int64_t* shared       # bytes that each one shares with the one before it in its run
    int64_t* spare_order
    int64_t* spare_shared
    bint scopes_first


cdef inline bint is_before(
    const Text* a, const Text* b, int64_t* shared, bint scopes_first
) noexcept nogil:
    """Whether a text comes before another one, or is the same.

    Args:
        shared: How many bytes they are known to share; gets how many they do share.
        scopes_first: A slash comes before all other bytes.
    """
    cdef Py_ssize_t size = a.size if a.size < b.size else b.size
    cdef Py_ssize_t place = shared[0]
    while place < size and a.data[place] == b.data[place]:
        place += 1
    shared[0] = place
    if place == size:
        return a.size <= b.size
    if scopes_first and (a.data[place] == c"/" or b.data[place] == c"/"):
        return a.data[place] == c"/"
    return a.data[place] < b.data[place]


cdef void merge(Sort* sort, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t end) noexcept nogil:
    """Two runs that follow each other become one; the left one goes first where they tie.

    A text that shares more with the last one taken than its rival comes first: most are compared
    without a look at their bytes, and no byte twice (Ng and Kakehi, "Merging string sequences by
    longest common prefixes", 2008).
    """
    cdef int64_t* order = sort.order
    cdef int64_t* shared = sort.shared
    cdef int64_t* rest = sort.spare_order
    cdef int64_t* rest_shared = sort.spare_shared
    cdef const Text* texts = sort.texts
    cdef Py_ssize_t n_left = middle - start, left = 0, right = middle, place = start
    cdef int64_t of_left = 0, of_right = 0, common = 0
    if is_before(&texts[order[middle - 1]], &texts[order[middle]], &common, sort.scopes_first):
        shared[middle] = common
        return
    memcpy(rest, order + start, n_left * sizeof(int64_t))
    memcpy(rest_shared, shared + start, n_left * sizeof(int64_t))
    while left < n_left and right < end:
        if of_left == of_right:
            common = of_left
            if is_before(
                &texts[rest[left]], &texts[order[right]], &common, sort.scopes_first
            ):
                shared[place] = of_left
                of_right = common
                order[place] = rest[left]
                left += 1
                of_left = rest_shared[left] if left < n_left else 0
            else:
                order[place] = order[right]
                shared[place] = of_right
                of_left = common
                right += 1
                of_right = shared[right] if right < end else 0
        elif of_left > of_right:
            order[place] = rest[left]
            shared[place] = of_left
            left += 1
            of_left = rest_shared[left] if left < n_left else 0
        else:
            order[place] = order[right]
            shared[place] = of_right
            right += 1
            of_right = shared[right] if right < end else 0
        place += 1
    if left < n_left:
        memcpy(order + place, rest + left, (n_left - left) * sizeof(int64_t))
        memcpy(shared + place, rest_shared + left, (n_left - left) * sizeof(int64_t))
        shared[place] = of_left
    elif right < end:
        shared[right] = of_right


cdef void sort_texts(Sort* sort, int64_t* ends, Py_ssize_t n) noexcept nogil:
    """Sort by merging the ascending runs that are there: names of a graph come half sorted."""
    cdef Py_ssize_t n_runs = 0, start, run, kept, place
    cdef int64_t common
    sort.shared[0] = 0
    for place in range(1, n):
        common = 0
        if is_before(
            &sort.texts[sort.order[place - 1]],
            &sort.texts[sort.order[place]],
            &common,
            sort.scopes_first,
        ):
            sort.shared[place] = common
        else:
            sort.shared[place] = 0
            ends[n_runs] = place
            n_runs += 1
    ends[n_runs] = n
    n_runs += 1
    while n_runs > 1:
        start = 0
        kept = 0
        for run in range(0, n_runs, 2):
            if run + 1 < n_runs:
                merge(sort, start, ends[run], ends[run + 1])
                start = ends[run + 1]
            else:
                start = ends[run]
            ends[kept] = start
            kept += 1
        n_runs = kept


cdef int collect(list names, Text* texts) except -1:
    """The UTF-8 bytes of all names, which live as long as the names."""
    cdef Py_ssize_t i
    for i in range(PyList_GET_SIZE(names)):
        texts[i].data = <const uint8_t*>PyUnicode_AsUTF8AndSize(names[i], &texts[i].size)
    return 0


def name_order(list names, int64_t[::1] order, bint scopes_first):
    """Places of the names in byte order, or with ``/`` before every other byte.

    Raises:
        UnicodeEncodeError: A name has lone surrogates.
    """
    cdef Py_ssize_t n = len(names)
    if order.shape[0] != n:
        raise ValueError("as many places as names")
    if n == 0:
        return
    cdef Py_ssize_t i
    cdef Sort sort
    cdef Text* texts = <Text*>malloc(n * sizeof(Text))
    cdef int64_t* room = <int64_t*>malloc(4 * n * sizeof(int64_t))
    try:
        if texts == NULL or room == NULL:
            raise MemoryError
        collect(names, texts)
        sort.texts = texts
        sort.order = &order[0]
        sort.shared = room
        sort.spare_order = room + n
        sort.spare_shared = room + 2 * n
        sort.scopes_first = scopes_first
        with nogil:
            for i in range(n):
                order[i] = i
            sort_texts(&sort, room + 3 * n, n)
    finally:
        free(texts)
        free(room)


cdef Py_ssize_t n_shared(const Text* last, const Text* name) noexcept nogil:
    """How many bytes two names share, the slash behind the whole of the first one included."""
    cdef Py_ssize_t size = last.size if last.size < name.size else name.size
    cdef Py_ssize_t shared = 0
    while shared < size and last.data[shared] == name.data[shared]:
        shared += 1
    if shared == last.size and shared < name.size and name.data[shared] == c"/":
        shared += 1
    return shared


cdef Py_ssize_t count_scopes(const Text* texts, const int64_t* order, Py_ssize_t n) noexcept nogil:
    """How many prefixes before a slash are no names themselves; -1 if no order of names."""
    cdef Py_ssize_t found = 0, i, at
    cdef Text nothing
    cdef const Text* last = &nothing
    nothing.data = NULL
    nothing.size = 0
    for i in range(n):
        if not 0 <= order[i] < n:
            return -1
        at = 0 if i == 0 else n_shared(last, &texts[order[i]])
        last = &texts[order[i]]
        while at < last.size:
            found += last.data[at] == c"/"
            at += 1
    return found


def scopes(list names, const int64_t[::1] order, object columns):
    """The tree of scopes, from names in the order of ``scopes_first``.

    Args:
        names: Distinct names.
        order: Their places in preorder.
        columns: Makes two columns of a length: parents, and places of the names.

    Returns:
        Names of the tree's nodes, and the two columns; the root has no name yet.
    """
    cdef Py_ssize_t n = len(names)
    cdef Py_ssize_t n_scopes
    if order.shape[0] != n:
        raise ValueError("as many places as names")
    if n == 0:
        parents, places = columns(1)
        parents[0] = places[0] = -1
        return [None], parents, places
    cdef Text* texts = <Text*>malloc(n * sizeof(Text))
    cdef int64_t* lengths = NULL
    cdef int64_t* positions = NULL
    cdef Py_ssize_t longest = 0, i
    try:
        if texts == NULL:
            raise MemoryError
        collect(names, texts)
        with nogil:
            n_scopes = count_scopes(texts, &order[0], n)
            for i in range(n):
                longest = max(longest, texts[i].size)
        if n_scopes < 0:
            raise ValueError("an order that leads out of the names")
        # No more scopes can be open than a name has bytes, and itself.
        lengths = <int64_t*>malloc((longest + 2) * sizeof(int64_t))
        positions = <int64_t*>malloc((longest + 2) * sizeof(int64_t))
        if lengths == NULL or positions == NULL:
            raise MemoryError
        parents, places = columns(n + n_scopes + 1)
        if not len(parents) == len(places) == n + n_scopes + 1:
            raise ValueError("columns of one tree differ in length")
        found = hang(names, texts, order, parents, places, lengths, positions)
        return found, parents, places
    finally:
        free(texts)
        free(lengths)
        free(positions)


cdef list hang(
    list names,
    const Text* texts,
    const int64_t[::1] order,
    int64_t[::1] parents,
    int64_t[::1] places,
    int64_t* lengths,
    int64_t* positions,
):
    """Open and close scopes from name to name."""
    cdef list found = [None]
    cdef Py_ssize_t n = order.shape[0]
    cdef Py_ssize_t depth = 1, position = 1, i, shared, slash
    cdef const Text* name
    cdef const Text* last = NULL
    cdef const uint8_t* at
    parents[0] = -1
    places[0] = -1
    lengths[0] = 0
    positions[0] = 0
    for i in range(n):
        name = &texts[order[i]]
        shared = 0 if last == NULL else n_shared(last, name)
        last = name
        while lengths[depth - 1] > shared:
            depth -= 1
        slash = lengths[depth - 1]
        while slash < name.size:
            at = <const uint8_t*>memchr(name.data + slash, c"/", name.size - slash)
            if at == NULL:
                break
            slash = at - name.data
            parents[position] = positions[depth - 1]
            places[position] = -1
            found.append(PyUnicode_DecodeUTF8(<const char*>name.data, slash, NULL))
            slash += 1
            lengths[depth] = slash
            positions[depth] = position
            depth += 1
            position += 1
        parents[position] = positions[depth - 1]
        places[position] = order[i]
        found.append(names[order[i]])
        lengths[depth] = name.size + 1
        positions[depth] = position
        depth += 1
        position += 1
    return found


cdef struct Buffer:
    char* data
    Py_ssize_t size
    Py_ssize_t capacity


cdef int reserve(Buffer* buffer, Py_ssize_t size) except -1:
    """Make room for so many more bytes."""
    cdef Py_ssize_t capacity
    cdef char* grown
    if size <= buffer.capacity - buffer.size:
        return 0
    if size > (1 << 62) - buffer.size:
        raise MemoryError
    capacity = max(buffer.size + size, 2 * buffer.capacity)
    grown = <char*>realloc(buffer.data, capacity)
    if grown == NULL:
        raise MemoryError
    buffer.data = grown
    buffer.capacity = capacity
    return 0


cdef int put(Buffer* buffer, const char* data, Py_ssize_t size) except -1:
    reserve(buffer, size)
    memcpy(buffer.data + buffer.size, data, size)
    buffer.size += size
    return 0


cdef int put_text(Buffer* buffer, object text) except -1:
    cdef Py_ssize_t size
    cdef const char* data = PyUnicode_AsUTF8AndSize(text, &size)
    return put(buffer, data, size)


cdef void put_digits(Buffer* buffer, uint64_t value) noexcept:
    """A number in decimal; 20 bytes must be free."""
    cdef char[20] digits
    cdef int n = 0
    while True:
        digits[19 - n] = <char>(48 + value % 10)
        n += 1
        value //= 10
        if value == 0:
            break
    memcpy(buffer.data + buffer.size, &digits[20 - n], n)
    buffer.size += n


cdef int put_hundredths(Buffer* buffer, double value) except -1:
    """A number that is not negative with two decimals, rounded as Python rounds it."""
    cdef double scaled = value * 100.0
    cdef double below = floor(scaled)
    cdef uint64_t hundredths
    cdef char* text
    # The product is off by less than this, so only numbers near the middle can be rounded wrongly.
    if value < 1e9 and fabs(scaled - below - 0.5) > 1e-3:
        hundredths = <uint64_t>below + (scaled - below > 0.5)
        reserve(buffer, 24)
        put_digits(buffer, hundredths // 100)
        buffer.data[buffer.size] = c"."
        buffer.data[buffer.size + 1] = <char>(48 + hundredths // 10 % 10)
        buffer.data[buffer.size + 2] = <char>(48 + hundredths % 10)
        buffer.size += 3
        return 0
    text = PyOS_double_to_string(value, c"f", 2, 0, NULL)
    try:
        for_text = <bytes>text
    finally:
        PyMem_Free(text)
    return put(buffer, for_text, len(for_text))


cdef class Amounts:
    """Numbers of rows as text: below 1000 as they are, else in the largest unit that fits."""

    cdef const int64_t[::1] values
    cdef list units

    def __init__(self, const int64_t[::1] values, list units):
        if not 0 < len(units) < 7:
            raise ValueError("a number has one to six units")
        self.values = values
        self.units = units

    cdef int put(self, Buffer* buffer, Py_ssize_t row) except -1:
        cdef int64_t value = self.values[row]
        cdef int64_t factor = 1
        cdef Py_ssize_t power = 0
        cdef bytes unit
        while power + 1 < len(self.units) and value >= 1000 * factor:
            factor *= 1000
            power += 1
        if power:
            put_hundredths(buffer, <double>value / <double>factor)
        else:
            reserve(buffer, 24)
            if value < 0:
                buffer.data[buffer.size] = c"-"
                buffer.size += 1
            put_digits(buffer, -<uint64_t>value if value < 0 else <uint64_t>value)
        unit = self.units[power]
        return put(buffer, unit, len(unit))


cdef class Ratios:
    """``own/total`` of rows; own is ``--`` where a row is not accounted."""

    cdef Amounts own
    cdef Amounts total
    cdef const uint8_t[::1] accounted
    cdef bytes suffix

    def __init__(
        self,
        const int64_t[::1] own,
        const int64_t[::1] total,
        const uint8_t[::1] accounted,
        list units,
        bytes suffix,
    ):
        if not own.shape[0] == total.shape[0] == accounted.shape[0]:
            raise ValueError("columns of one view differ in length")
        self.own = Amounts(own, units)
        self.total = Amounts(total, units)
        self.accounted = accounted
        self.suffix = suffix

    def __len__(self):
        return self.accounted.shape[0]

    cdef int put(self, Buffer* buffer, Py_ssize_t row) except -1:
        if self.accounted[row]:
            self.own.put(buffer, row)
        else:
            put(buffer, b"--", 2)
        put(buffer, b"/", 1)
        self.total.put(buffer, row)
        return put(buffer, self.suffix, len(self.suffix))


def outline(list names, const int64_t[::1] depth, list columns):
    """Lines of ``<indent><name> (<items>)`` as UTF-8.

    Args:
        names: Name of each row.
        depth: Levels of each row.
        columns: Items: ``Ratios``, or a list of texts, where None leaves out the item.

    Raises:
        UnicodeEncodeError: A text has lone surrogates.
    """
    cdef Py_ssize_t n = len(names)
    cdef Py_ssize_t row
    cdef bint is_first
    cdef Buffer buffer
    if depth.shape[0] != n:
        raise ValueError("columns of one view differ in length")
    for column in columns:
        if not isinstance(column, (Ratios, list)) or len(column) != n:
            raise ValueError("columns of one view differ in length")
    buffer.data = NULL
    buffer.size = buffer.capacity = 0
    try:
        for row in range(n):
            if not 0 <= depth[row] <= n:
                raise ValueError("a tree is not as deep as that")
            reserve(&buffer, 2 * depth[row])
            memset(buffer.data + buffer.size, c" ", 2 * depth[row])
            buffer.size += 2 * depth[row]
            put_text(&buffer, names[row])
            put(&buffer, b" (", 2)
            is_first = True
            for column in columns:
                if isinstance(column, Ratios):
                    put_separator(&buffer, is_first)
                    (<Ratios>column).put(&buffer, row)
                elif (<list>column)[row] is not None:
                    put_separator(&buffer, is_first)
                    put_text(&buffer, (<list>column)[row])
                else:
                    continue
                is_first = False
            put(&buffer, b")\n", 2)
        return PyBytes_FromStringAndSize(buffer.data, buffer.size)
    finally:
        free(buffer.data)


cdef int put_separator(Buffer* buffer, bint is_first) except -1:
    return 0 if is_first else put(buffer, b", ", 2)
