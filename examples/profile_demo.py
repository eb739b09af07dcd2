"""Profile the recorded training step that comes with tfprof; needs no TensorFlow.

python examples/profile_demo.py
"""

import tfprof


def main() -> None:
    """Print views of the demo."""
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)

    builder = tfprof.ProfileOptionBuilder
    time = builder().order_by("micros").select(["micros", "bytes"]).with_empty_output()

    print("Time by op type:")
    ops = profiler.profile_operations(time.build())
    # In the op view each type is the only child of the one before it.
    for _ in range(5):
        ops = ops.children[0]
        print(f"  {ops.exec_micros / 1e3:8.1f} ms  {ops.name}")

    print("Time by scope:")
    scopes = profiler.profile_name_scope(time.with_max_depth(3).build())
    for scope in scopes.children[0].children[:2] + scopes.children[1].children[:3]:
        print(f"  {scope.total_exec_micros / 1e3:8.1f} ms  {scope.name}")

    variables = {**builder.trainable_variables_parameter(), "output": "none"}
    print(f"Parameters: {profiler.profile_name_scope(variables).total_parameters:,}")
    operations = {**builder.float_operation(), "output": "none"}
    print(f"Float operations: {profiler.profile_operations(operations).total_float_ops:,}")


if __name__ == "__main__":
    main()
