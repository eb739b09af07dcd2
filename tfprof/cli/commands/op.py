"""``tfprof op``."""

from tfprof.cli.view import view_command

command = view_command(
    "op",
    "Show the op types: each sums up its ops.",
    [
        "tfprof op --demo -order_by micros -select micros,bytes,occurrence",
        "tfprof op --graph_path graph.pb --run_meta_path step1.pb,step2.pb --format csv -o ops.csv",
    ],
)
