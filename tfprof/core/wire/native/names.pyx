# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Names in byte order and the scopes in them, natively; ``tree_walks.py`` says what each gives.

Arrays that are written are the caller's, and their lengths are checked. The bytes of a name are
those that Python keeps with it, and live as long.
"""

from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

ctypedef struct Text:
    const uint8_t* data
    Py_ssize_t size


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


cdef Py_ssize_t count_scopes(
    const Text* texts, const int64_t* order, Py_ssize_t n, Py_ssize_t* n_bytes
) noexcept nogil:
    """Number of prefixes before a slash that are not names themselves; -1 if no order of names.

    Args:
        n_bytes: Gets the bytes of all these prefixes together.
    """
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
            if last.data[at] == c"/":
                found += 1
                n_bytes[0] += at
            at += 1
    return found


def scopes(list names, const int64_t[::1] order, object columns, object most_bytes):
    """The tree of scopes, from names in the order of ``scopes_first``.

    Args:
        names: Distinct names.
        order: Their places in preorder.
        columns: Makes two columns of a length: parents, and places of the names.
        most_bytes: Says how many bytes the names of scopes may take, from those of all names.

    Returns:
        Names of the tree's nodes, and the two columns; the root has no name yet. None if the names
        of scopes take more bytes.
    """
    cdef Py_ssize_t n = len(names)
    cdef Py_ssize_t n_scopes, n_bytes = 0, n_name_bytes = 0
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
            n_scopes = count_scopes(texts, &order[0], n, &n_bytes)
            for i in range(n):
                longest = max(longest, texts[i].size)
                n_name_bytes += texts[i].size
        if n_scopes < 0:
            raise ValueError("an order that leads out of the names")
        if n_bytes > most_bytes(n_name_bytes):
            return None
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
