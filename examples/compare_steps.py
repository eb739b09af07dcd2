"""Several steps in one profiler: the average, one step, and which ops became slower.

The steps are made up here; your own are files or messages of type RunMetadata.

python examples/compare_steps.py
"""

import tfprof
from tfprof.testing.builders import graph, op, run

GRAPH = graph(
    op("input/decode", "DecodeJpeg"),
    op("model/conv", "Conv2D", "input/decode"),
    op("model/dense", "MatMul", "model/conv"),
    op("save/write", "SaveV2", "model/dense"),
)
# Node names with microseconds. Only the last step saves a checkpoint.
STEPS = {
    10: run({"input/decode": 200, "model/conv": 900, "model/dense": 300}),
    11: run({"input/decode": 260, "model/conv": 920, "model/dense": 290}),
    12: run({"input/decode": 1900, "model/conv": 910, "model/dense": 310, "save/write": 5000}),
}


def main() -> None:
    """Print a table of the steps, and what grew."""
    profiler = tfprof.Profiler(GRAPH)
    for step, run_meta in STEPS.items():
        profiler.add_step(step, run_meta)

    builder = tfprof.ProfileOptionBuilder().order_by("micros")
    micros = {}
    for step in (-1, *profiler.steps):  # -1 is the average
        rows = profiler.view("op", builder.with_step(step).build()).to_rows()
        micros[step] = {row["name"]: row["exec_micros"] for row in rows[1:]}

    print(f"{'op type':<12}{'average':>9}" + "".join(f"{f'step {s}':>9}" for s in profiler.steps))
    for name in micros[-1]:
        times = [micros[step].get(name, 0) for step in (-1, *profiler.steps)]
        print(f"{name:<12}" + "".join(f"{time:>9}" for time in times))
    print("SaveV2 ran in one step only: an average divides by the steps that an op was seen in.")

    first, last = profiler.steps[0], profiler.steps[-1]
    slower = {name: micros[last][name] - micros[first].get(name, 0) for name in micros[last]}
    name = max(slower, key=slower.__getitem__)
    print(f"From step {first} to {last} {name} grew most: +{slower[name]} us.")


if __name__ == "__main__":
    main()
