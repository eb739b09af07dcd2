"""Which line of the program costs most: the code view as a file for pprof.

python examples/pprof_of_code.py
"""

import tfprof


def main() -> None:
    """Write the recorded step for pprof."""
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)

    builder = tfprof.ProfileOptionBuilder()
    lines = profiler.profile_python(builder.with_pprof_output("code.pb.gz").build())
    slowest = max(lines.children, key=lambda line: line.total_exec_micros)
    print(f"{slowest.name} took {slowest.total_exec_micros:,} us")


if __name__ == "__main__":
    main()
