"""A view as columns and rows instead of protos, written as CSV.

python examples/light_object.py scopes.csv
"""

import csv
import sys

import tfprof

COLUMNS = ["depth", "name", "total_exec_micros", "total_requested_bytes", "total_float_ops"]


def main() -> None:
    """Use the columns, nodes and rows of a view."""
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    options = tfprof.ProfileOptionBuilder().order_by("micros").with_max_depth(3).build()
    tree = profiler.view("scope", options)

    # NumPy columns, one value for each row that is shown.
    own = tree.columns["exec_micros"]
    slowest = int(own.argmax())
    print(f"{len(tree)} rows; slowest op on its own: {tree.names[slowest]}, {own[slowest]} us")

    # Nodes, as in a tree.
    for node in tree.children[:3]:
        share = node.total_exec_micros / tree.root.total_exec_micros
        print(f"  {share:6.1%}  {node.name}, {len(node.children)} children")

    # Rows, as for a table.
    target = sys.argv[1] if len(sys.argv) > 1 else "scopes.csv"
    with open(target, "w", newline="", encoding="utf-8") as stream:  # noqa: PTH123
        writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(tree.to_rows())
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
