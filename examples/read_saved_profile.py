"""Read a saved profile of ProfileContext, `Profiler.save` or TensorFlow itself.

python examples/read_saved_profile.py [PROFILE]

Without a profile, one is made of the recorded step that comes with tfprof.
"""

import sys

import tfprof


def demo_profile(path: str) -> str:
    """Save the recorded step as a profile."""
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    profiler.save(path)
    return path


def main() -> None:
    """Print the steps, the slowest scopes and the notices of a profile."""
    path = sys.argv[1] if len(sys.argv) > 1 else demo_profile("profile_0")
    profiler = tfprof.load(path)
    print(f"{path} holds step", *profiler.steps)
    options = tfprof.ProfileOptionBuilder().order_by("micros").with_max_depth(2)
    profiler.profile_name_scope(options.with_min_execution_time(10_000).build())
    for notice in profiler.notices:
        print("Note:", notice.text)


if __name__ == "__main__":
    main()
