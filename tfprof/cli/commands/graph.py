"""``tfprof graph``."""

from tfprof.cli.view import view_command

command = view_command(
    "graph",
    "Show the ops by data flow: each op sums up the ops that it depends on.",
    [
        "tfprof graph --demo -start_name_regexes '.*loss.*' -max_depth 6 -select micros,op_types",
        "tfprof graph --graph_path graph.pb --run_meta_path run_meta.pb "
        "-trim_name_regexes '.*Grad'",
    ],
)
