"""Read a capture of TensorFlow 2's profiler, without TensorFlow.

python examples/read_capture.py [LOG_FOLDER]
"""

import sys
from pathlib import Path

import tfprof
from tfprof.demo import tutorial_files

RECORDED = tutorial_files() / "input-bound"


def main(folder: Path) -> None:
    """Show the verdict, the ops with the most time, and what to do."""
    run = tfprof.open_run(folder)
    overview = tfprof.tools.overview(run)
    for sentence in overview.verdict:
        print(sentence)
    for note in overview.notes:
        print(f"{note.severity}: {note.message}")

    print("\nMost time by itself:")
    for row in tfprof.tools.op_stats(run).to_rows("ops")[:5]:
        print(f"{row['total_self_time'] / 1000:8.3f} ms  {row['operation']} ({row['type']})")

    print("\nWhat to do:")
    for number, advice in enumerate(tfprof.tools.advice(run), 1):
        gain = advice.gain_fraction
        worth = f"up to {gain:.1%} of the step" if gain else "gain unknown"
        print(f"{number}. {advice.rule}: {worth}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else RECORDED)
