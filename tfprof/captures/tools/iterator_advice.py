"""Suggestions for an iterator of tf.data that slows a pipeline down."""

from __future__ import annotations

import re
from typing import NamedTuple

from tfprof.captures.events.timeline.names import SECOND_STAGE
from tfprof.captures.events.timeline.op_names import plain_iterator_type
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Details

_SOURCES = frozenset(
    ("TFRecord", "SSTable", "RecordIO", "Spanner", "TFColumn", "SleepwalkRemoteDataset",
     "TextLine", "StitchedTimelineDataset", "DateKeyDataset", "CapacitorProto", "LMDB",
     "ExternalDataset", "PearModel", "FixedLengthRecord", "FromTensor", "TensorSlice",
     "SyntheticDatasetOp", "ArrayRecord", "Csv", "Sql")
)  # fmt: skip
_REMOTE = frozenset(
    ("GuzzlerDataGuzzlerRemoteDataset", "ReverbDataset", "DatasetSampleGame", "Courier",
     "ReverbEpisodeDataset")
)  # fmt: skip
_PARALLEL = frozenset(
    ("ParallelMap", "ParallelInterleave", "LegacyParallelInterleave", "ParallelBatch")
)  # fmt: skip
_SEQUENTIAL = frozenset(("Filter", "Batch", "Unbatch", "PaddedBatch", "FlatMap", "Take", "Zip"))

_CACHE = " Put cache() behind it if its output fits into memory and nothing before it is random."
_IS_CACHED = (
    " Its output is cached already: these calls fill the cache, so only the first epoch waits for "
    "it. Capture a later one, too."
)
_CACHED = re.compile(r"::\w*Cache\w*(\[\d+\])?::")
"""Matches the name of an iterator whose elements go into a cache."""


_ADVICE: tuple[tuple[frozenset[str], str, str], ...] = (
    (
        frozenset(("Generator",)),
        "python-source",
        "Python makes one element at a time, and holds its lock meanwhile. Write the data to "
        "TFRecord files instead, or let several workers make elements (workers=… of a PyDataset of "
        "Keras, interleave over several generators).",
    ),
    (
        _SOURCES,
        "slow-source",
        "reading is what takes the time. Keep the data near the host, in few large files, and "
        "read several at once with interleave(num_parallel_calls=tf.data.AUTOTUNE).",
    ),
    (
        frozenset(("DataService",)),
        "data-service",
        "elements come from a tf.data service. Capture its workers, and give it more of them.",
    ),
    (_REMOTE, "remote", "elements come from another machine. Capture that one."),
    (
        frozenset(("Map", "Interleave")),
        "sequential-function",
        "it calls its function for one element at a time. Set num_parallel_calls="
        "tf.data.AUTOTUNE, and let map work on whole batches.",
    ),
    (
        frozenset(("MapAndBatch",)),
        "map-and-batch",
        "tf.data has joined map and batch into one. Set num_parallel_calls=tf.data.AUTOTUNE in "
        "map if it is not set, and make its function cheaper if the CPUs are busy.",
    ),
    (
        _PARALLEL,
        "parallel-function",
        "it is parallel already. If its threads and the CPUs are not busy all the time, raise "
        "num_parallel_calls or the cycle length; if they are, make the function cheaper or move "
        "it to other machines with a tf.data service.",
    ),
    (
        frozenset(("Prefetch",)),
        "prefetch",
        "its buffer was empty: what comes before it is too slow on average. Look at the "
        "iterators below it that took the most time, and let AUTOTUNE size the buffer.",
    ),
    (
        frozenset(("Shuffle", "ShuffleAndRepeat")),
        "shuffle-buffer",
        "it fills its buffer before the first element. That is paid once if only the first call "
        "is slow; a smaller buffer, or shuffling files instead of elements, is cheaper.",
    ),
    (
        _SEQUENTIAL,
        "sequential",
        "it works on one element after the other. Run several copies over shards of the data "
        "and combine them with interleave, or make elements larger.",
    ),
)

_OTHER = (
    "there is no special advice for it; the performance guide of tf.data lists what makes "
    "pipelines fast: prefetch, parallel map and interleave, cache, batch first."
)


_IS_PARALLEL = (
    "it makes {parallel_count} elements at once already. If its threads and the CPUs are not busy "
    "all the time, raise num_parallel_calls; if they are, make the function cheaper or move it to "
    "other machines with a tf.data service."
)

_CALLS_PYTHON = (
    "its function calls Python (py_function, numpy_function), which runs one thread at a time. "
    "Write it with ops of TensorFlow, and set num_parallel_calls=tf.data.AUTOTUNE; with the "
    "function as it is, calls at once help only as far as it waits or is in libraries that "
    "release Python's lock."
)

_WITH_FUNCTION = frozenset(("sequential-function", "map-and-batch", "parallel-function"))

_OF_HOST = (
    "it takes elements from the first part of the pipeline, on the host. Look at that part, and at "
    "what else keeps its threads busy."
)


_NOTHING_BELOW = (
    "its buffer was empty: what comes before it is too slow on average. The capture shows nothing "
    f"of that: {how_to_capture.LONGER}."
)


_CACHEABLE = frozenset(
    (*_WITH_FUNCTION, "python-function", "sequential")
)  # fmt: skip
"""Rules for iterators whose work a cache would save."""


class Suggestion(NamedTuple):
    """What to do about an iterator.

    Attributes:
        rule: Short name of the rule behind it.
        words: What to do, as the words of a claim.
        details: The numbers in these words.
    """

    rule: str
    words: str
    details: Details


def suggestion(
    iterator: str,
    long_name: str = "",
    *,
    is_alone: bool = False,
    parallelism: int = 0,
    calls_python: bool = False,
) -> Suggestion:
    """Suggest what to do about an iterator.

    Args:
        iterator: Type of the iterator, with or without version: ``ParallelMapV2``.
        long_name: Its name after the names of its consumers: ``Iterator::Root::ParallelMapV2``.
        is_alone: Whether the capture has no iterator from which it takes elements.
        parallelism: How many elements its function processes at once; 0 if unknown.
        calls_python: Whether its function calls Python.
    """
    rule, words = _suggestion(iterator, long_name, is_alone, parallelism)
    if calls_python and rule in _WITH_FUNCTION:
        rule, words = "python-function", _CALLS_PYTHON
    if rule in _CACHEABLE:
        words += _IS_CACHED if _CACHED.search(long_name) else _CACHE
    return Suggestion(rule, words, {"parallel_count": parallelism} if parallelism > 1 else {})


def _suggestion(iterator: str, long_name: str, is_alone: bool, parallelism: int) -> tuple[str, str]:
    if long_name == SECOND_STAGE:
        return "host-stage", _OF_HOST
    plain = plain_iterator_type(iterator)
    if is_alone and plain == "Prefetch":
        return "prefetch", _NOTHING_BELOW
    for iterators, rule, text in _ADVICE:
        if plain in iterators:
            if parallelism > 1 and rule in ("map-and-batch", "parallel-function"):
                return rule, _IS_PARALLEL
            return rule, text
    return "other", _OTHER
