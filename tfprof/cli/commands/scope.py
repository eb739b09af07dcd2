"""``tfprof scope``."""

from tfprof.cli.view import view_command

command = view_command(
    "scope",
    "Show time, memory, parameters and float operations by name scope: each scope sums up the "
    "ops below it.",
    [
        "tfprof scope --demo -max_depth 3 -order_by micros -select micros,bytes",
        "tfprof scope --graph_path graph.pb -account_type_regexes _trainable_variables "
        "-select params",
    ],
)
