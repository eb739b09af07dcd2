"""``tfprof code``."""

from tfprof.cli.view import view_command

command = view_command(
    "code",
    "Show the Python lines that made the ops, by call stack: each line sums up the ops that it "
    "made. Call stacks come from the op log.",
    [
        "tfprof code --demo -max_depth 8 -order_by micros",
        "tfprof code --graph_path graph.pb --run_meta_path run_meta.pb --op_log_path op_log.pb "
        "-show_name_regexes '.*train.py.*'",
    ],
)
