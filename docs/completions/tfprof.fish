# Completion of tfprof for fish; made by: tfprof completion fish

# Prints the command that the line names, an empty line if there is none yet.
function __tfprof_command
    set -l previous ''
    for word in (commandline -opc)[2..-1]
        if contains -- $word (__tfprof_commands); and not __tfprof_takes_next $previous
            printf '%s\n' $word
            return
        end
        set previous $word
    end
    echo ''
end

# Whether the next word is the value of this option.
function __tfprof_takes_next
    string match -qr -- '^-[^=]+$' "$argv[1]"; or return 1
    set -l key (string replace -r -- '^--?' '' $argv[1] | string replace -a -- - _)
    not contains -- $key (__tfprof_flags)
end

# Whether the command is one of those behind the first argument, and options are typed in the
# style that this argument names. Any style suits a word that is no option.
function __tfprof_in
    contains -- (__tfprof_command) $argv[2..-1]; or return 1
    set -l word (commandline -ct)
    if string match -qr -- '^-[^-]' $word
        test $argv[1] = single
    else if string match -qr -- '^--[^=_]*-' $word
        test $argv[1] = kebab
    else if string match -qr -- '^-' $word
        test $argv[1] = snake
    end
end

# Whether a path stands where a command could.
function __tfprof_at_path
    set -l word (commandline -ct)
    test -z (__tfprof_command); and not string match -q -- "$word*" (__tfprof_commands)
end

# What the value that is being typed begins with, up to the last match of the regex.
function __tfprof_before
    set -l value (string replace -r -- '^--?[\w-]+=' '' (commandline -ct))
    string match -r -- "^(?:.*$argv[1])?" $value
end

# The elements that the list does not have yet.
function __tfprof_list
    set -l before (__tfprof_before ,)
    for element in $argv
        string match -q -- "*,$element,*" ",$before"; or printf '%s\n' $before$element
    end
end

# Paths behind what the regex matches.
function __tfprof_paths
    set -l before (__tfprof_before $argv[1])
    set -l value (string replace -r -- '^--?[\w-]+=' '' (commandline -ct))
    set -l path (string sub -s (math 1 + (string length -- "$before")) -- $value)
    for found in (__fish_complete_path $path)
        printf '%s\n' $before$found
    end
end

function __tfprof_output
    if string match -q -- '*outfile=*' (commandline -ct)
        __tfprof_paths outfile=
    else
        printf '%s\n' $argv
    end
end

function __tfprof_commands
    printf '%s\n' op scope graph code advise flops summary info timeline pprof export convert checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace doctor dot shell completion demo
end

# Options that take no value, or may go without.
function __tfprof_flags
    printf '%s\n' version h help recover demo classic no_classic account_displayed_op_only static_float_ops pager no_pager history no_history
end

complete -c tfprof -e
complete -c tfprof -f
complete -c tfprof -n __tfprof_at_path -F
complete -c tfprof -n '__tfprof_in any \'\'' -a op -d 'Op types: what each kind of op costs in all.'
complete -c tfprof -n '__tfprof_in any \'\'' -a scope -d 'Name scopes: what each part of the model costs.'
complete -c tfprof -n '__tfprof_in any \'\'' -a graph -d 'Data flow: what an op and its inputs cost.'
complete -c tfprof -n '__tfprof_in any \'\'' -a code -d 'Python lines: what the ops each line made cost.'
complete -c tfprof -n '__tfprof_in any \'\'' -a advise -d 'Advice: what slows the run down, and the line.'
complete -c tfprof -n '__tfprof_in any \'\'' -a flops -d 'Float operations: how many a model has.'
complete -c tfprof -n '__tfprof_in any \'\'' -a summary -d 'Layers: shapes, parameters, operations.'
complete -c tfprof -n '__tfprof_in any \'\'' -a info -d 'What a profile holds, step by step.'
complete -c tfprof -n '__tfprof_in any \'\'' -a timeline -d 'A trace for chrome://tracing or Perfetto.'
complete -c tfprof -n '__tfprof_in any \'\'' -a pprof -d 'A profile for pprof.'
complete -c tfprof -n '__tfprof_in any \'\'' -a export -d 'Tables for data frames: ops, steps, runs, …'
complete -c tfprof -n '__tfprof_in any \'\'' -a convert -d 'Files as other files: save, unite, as text.'
complete -c tfprof -n '__tfprof_in any \'\'' -a checkpoint -d 'Variables: statistics and values.'
complete -c tfprof -n '__tfprof_in any \'\'' -a tools -d 'What a capture holds, and for which tools.'
complete -c tfprof -n '__tfprof_in any \'\'' -a overview -d 'Where the steps went, and what to change first.'
complete -c tfprof -n '__tfprof_in any \'\'' -a input-pipeline -d 'Whether the program waits for its input.'
complete -c tfprof -n '__tfprof_in any \'\'' -a tf-data -d 'Which stage of a tf.data pipeline is slow.'
complete -c tfprof -n '__tfprof_in any \'\'' -a op-stats -d 'Ops of hosts and devices by time.'
complete -c tfprof -n '__tfprof_in any \'\'' -a kernel-stats -d 'GPU kernels by time.'
complete -c tfprof -n '__tfprof_in any \'\'' -a memory -d 'Memory over time, and who holds it at the peak.'
complete -c tfprof -n '__tfprof_in any \'\'' -a pod -d 'Steps of every worker and core.'
complete -c tfprof -n '__tfprof_in any \'\'' -a op-profile -d 'XLA ops as a tree: time and utilization.'
complete -c tfprof -n '__tfprof_in any \'\'' -a hlo-stats -d 'XLA ops as a list.'
complete -c tfprof -n '__tfprof_in any \'\'' -a roofline -d 'How far ops are from what the device can do.'
complete -c tfprof -n '__tfprof_in any \'\'' -a memory-viewer -d 'Buffers that XLA programs plan to hold.'
complete -c tfprof -n '__tfprof_in any \'\'' -a graph-viewer -d 'Instructions of an XLA program around one.'
complete -c tfprof -n '__tfprof_in any \'\'' -a monitor -d 'How busy devices are, in a few figures.'
complete -c tfprof -n '__tfprof_in any \'\'' -a trace -d 'All events for Perfetto or Chrome.'
complete -c tfprof -n '__tfprof_in any \'\'' -a doctor -d 'Why it does not work: machine, servers, files.'
complete -c tfprof -n '__tfprof_in any \'\'' -a dot -d 'A DOT file, such as XLA\'s dumps, as a picture.'
complete -c tfprof -n '__tfprof_in any \'\'' -a shell -d 'All of these, typed into one open profile.'
complete -c tfprof -n '__tfprof_in any \'\'' -a completion -d 'What lets bash, zsh or fish complete.'
complete -c tfprof -n '__tfprof_in any \'\'' -a demo -d 'A recorded ResNet-50 training step, profiled.'

complete -c tfprof -n '__tfprof_in snake \'\'' -l version -d 'Show the version and exit'
complete -c tfprof -n '__tfprof_in single \'\'' -o version -d 'Show the version and exit'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise flops summary info timeline pprof export convert checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace doctor dot shell completion demo' -s h -d 'Show this message and exit'
complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise flops summary info timeline pprof export convert checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace doctor dot shell completion demo' -l help -d 'Show this message and exit'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise flops summary info timeline pprof export convert checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace doctor dot shell completion demo' -o help -d 'Show this message and exit'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l graph_path -r -F -d 'GraphDef, MetaGraphDef or SavedModel (also its folder), binary or text, also .gz, .xz or .zst'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o graph_path -r -F -d 'GraphDef, MetaGraphDef or SavedModel (also its folder), binary or text, also .gz, .xz or .zst'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise info timeline pprof export convert shell' -l graph-path -r -F -d 'GraphDef, MetaGraphDef or SavedModel (also its folder), binary or text, also .gz, .xz or .zst'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l run_meta_path -x -a '(__tfprof_paths ,)' -d 'RunMetadata of one or more steps, separated by commas: the first file is step 0, the next step 1, …'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o run_meta_path -x -a '(__tfprof_paths ,)' -d 'RunMetadata of one or more steps, separated by commas: the first file is step 0, the next step 1, …'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise info timeline pprof export convert shell' -l run-meta-path -x -a '(__tfprof_paths ,)' -d 'RunMetadata of one or more steps, separated by commas: the first file is step 0, the next step 1, …'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l op_log_path -r -F -d 'OpLogProto: call stacks, float operations and types to add'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o op_log_path -r -F -d 'OpLogProto: call stacks, float operations and types to add'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise info timeline pprof export convert shell' -l op-log-path -r -F -d 'OpLogProto: call stacks, float operations and types to add'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l profile_path -r -F -d 'ProfileProto: a profile that tfprof or TensorFlow has saved'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o profile_path -r -F -d 'ProfileProto: a profile that tfprof or TensorFlow has saved'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise info timeline pprof export convert shell' -l profile-path -r -F -d 'ProfileProto: a profile that tfprof or TensorFlow has saved'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l checkpoint_path -r -F -d 'Checkpoint (its prefix, index or folder): its variables get the type _checkpoint_variables, and -select tensor_value shows their values'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o checkpoint_path -r -F -d 'Checkpoint (its prefix, index or folder): its variables get the type _checkpoint_variables, and -select tensor_value shows their values'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise info timeline pprof export convert shell' -l checkpoint-path -r -F -d 'Checkpoint (its prefix, index or folder): its variables get the type _checkpoint_variables, and -select tensor_value shows their values'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l recover -d 'Read what is left of a damaged profile; notes say what is missing'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o recover -d 'Read what is left of a damaged profile; notes say what is missing'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise flops summary info timeline pprof export convert shell' -l demo -d 'Read the recorded ResNet-50 step that comes with tfprof'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise flops summary info timeline pprof export convert shell' -o demo -d 'Read the recorded ResNet-50 step that comes with tfprof'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l classic -d 'Reproduce the original tfprof where it is wrong'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o classic -d 'Reproduce the original tfprof where it is wrong'
complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise info timeline pprof export convert shell' -l no-classic -d 'The opposite of --classic'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise info timeline pprof export convert shell' -o no-classic -d 'The opposite of --classic'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise info timeline pprof export convert shell' -l no-classic -d 'The opposite of --classic'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l max_depth -x -d 'Show no more than this many levels'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o max_depth -x -d 'Show no more than this many levels'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l max-depth -x -d 'Show no more than this many levels'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_bytes -x -d 'Show only nodes with at least this requested memory, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_bytes -x -d 'Show only nodes with at least this requested memory, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-bytes -x -d 'Show only nodes with at least this requested memory, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_peak_bytes -x -d 'Show only nodes with at least this peak memory, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_peak_bytes -x -d 'Show only nodes with at least this peak memory, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-peak-bytes -x -d 'Show only nodes with at least this peak memory, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_residual_bytes -x -d 'Show only nodes with at least this memory left after it ran, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_residual_bytes -x -d 'Show only nodes with at least this memory left after it ran, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-residual-bytes -x -d 'Show only nodes with at least this memory left after it ran, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_output_bytes -x -d 'Show only nodes with at least this output memory, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_output_bytes -x -d 'Show only nodes with at least this output memory, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-output-bytes -x -d 'Show only nodes with at least this output memory, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_micros -x -d 'Show only nodes with at least this execution time, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_micros -x -d 'Show only nodes with at least this execution time, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-micros -x -d 'Show only nodes with at least this execution time, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_accelerator_micros -x -d 'Show only nodes with at least this accelerator time, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_accelerator_micros -x -d 'Show only nodes with at least this accelerator time, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-accelerator-micros -x -d 'Show only nodes with at least this accelerator time, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_cpu_micros -x -d 'Show only nodes with at least this CPU time, in total'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_cpu_micros -x -d 'Show only nodes with at least this CPU time, in total'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-cpu-micros -x -d 'Show only nodes with at least this CPU time, in total'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_params -x -d 'Show only nodes with at least this number of parameters'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_params -x -d 'Show only nodes with at least this number of parameters'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-params -x -d 'Show only nodes with at least this number of parameters'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_float_ops -x -d 'Show only nodes with at least this number of float operations'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_float_ops -x -d 'Show only nodes with at least this number of float operations'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-float-ops -x -d 'Show only nodes with at least this number of float operations'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l min_occurrence -x -d 'Show only nodes with at least this number of runs (op view: of ops)'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o min_occurrence -x -d 'Show only nodes with at least this number of runs (op view: of ops)'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l min-occurrence -x -d 'Show only nodes with at least this number of runs (op view: of ops)'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l step -x -d 'Step to show; -1 averages over the steps an op was seen in'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o step -x -d 'Step to show; -1 averages over the steps an op was seen in'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l order_by -x -a 'auto name bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence' -d 'Sort siblings by this'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o order_by -x -a 'auto name bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence' -d 'Sort siblings by this'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l order-by -x -a 'auto name bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence' -d 'Sort siblings by this'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l account_type_regexes -x -d 'Count only ops with a type that matches: op type, device, or a type from the op log'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o account_type_regexes -x -d 'Count only ops with a type that matches: op type, device, or a type from the op log'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l account-type-regexes -x -d 'Count only ops with a type that matches: op type, device, or a type from the op log'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l start_name_regexes -x -d 'Start the report at the topmost names that match'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o start_name_regexes -x -d 'Start the report at the topmost names that match'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l start-name-regexes -x -d 'Start the report at the topmost names that match'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l trim_name_regexes -x -d 'Show nothing below names that match'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o trim_name_regexes -x -d 'Show nothing below names that match'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l trim-name-regexes -x -d 'Show nothing below names that match'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l show_name_regexes -x -d 'Show only names that match'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o show_name_regexes -x -d 'Show only names that match'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l show-name-regexes -x -d 'Show only names that match'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l hide_name_regexes -x -d 'Hide names that match'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o hide_name_regexes -x -d 'Hide names that match'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l hide-name-regexes -x -d 'Hide names that match'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l account_displayed_op_only -a 'true false' -d 'Let totals count only what is shown'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o account_displayed_op_only -a 'true false' -d 'Let totals count only what is shown'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l account-displayed-op-only -a 'true false' -d 'Let totals count only what is shown'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code pprof shell' -l select -x -a '(__tfprof_list auto bytes micros params float_ops tensor_value device op_types occurrence input_shapes accelerator_micros cpu_micros peak_bytes residual_bytes output_bytes)' -d 'Attributes to show'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code pprof shell' -o select -x -a '(__tfprof_list auto bytes micros params float_ops tensor_value device op_types occurrence input_shapes accelerator_micros cpu_micros peak_bytes residual_bytes output_bytes)' -d 'Attributes to show'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code shell' -l output -x -a '(__tfprof_output stdout none \'dot:outfile=\' \'file:outfile=\' \'pprof:outfile=\' \'timeline:outfile=\')' -d 'Where the view goes: stdout, none or file:outfile=PATH'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code shell' -o output -x -a '(__tfprof_output stdout none \'dot:outfile=\' \'file:outfile=\' \'pprof:outfile=\' \'timeline:outfile=\')' -d 'Where the view goes: stdout, none or file:outfile=PATH'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code timeline pprof shell' -l static_float_ops -a 'true false' -d 'Show the float operations of one run of the program as the graph says, not those of the runs that were recorded'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code timeline pprof shell' -o static_float_ops -a 'true false' -d 'Show the float operations of one run of the program as the graph says, not those of the runs that were recorded'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code timeline pprof shell' -l static-float-ops -a 'true false' -d 'Show the float operations of one run of the program as the graph says, not those of the runs that were recorded'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code shell' -l format -x -a 'text table tree json csv html' -d 'text: the classic report. table: aligned and coloured, with human units; a dash means not measured. tree: an outline with shares. json, csv: all numbers, units in the column names. html: a page'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code shell' -o format -x -a 'text table tree json csv html' -d 'text: the classic report. table: aligned and coloured, with human units; a dash means not measured. tree: an outline with shares. json, csv: all numbers, units in the column names. html: a page'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code shell' -l max_rows -x -d 'Rows of a table, tree or page, the largest first to stay; 0 is all'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code shell' -o max_rows -x -d 'Rows of a table, tree or page, the largest first to stay; 0 is all'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code shell' -l max-rows -x -d 'Rows of a table, tree or page, the largest first to stay; 0 is all'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -l color -x -a 'auto always never' -d 'Colour; auto heeds NO_COLOR and FORCE_COLOR'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -o color -x -a 'auto always never' -d 'Colour; auto heeds NO_COLOR and FORCE_COLOR'

complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -l pager -d 'Show what is longer than the terminal with the program that PAGER names, else less or more'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -o pager -d 'Show what is longer than the terminal with the program that PAGER names, else less or more'
complete -c tfprof -n '__tfprof_in snake \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -l no-pager -d 'The opposite of --pager'
complete -c tfprof -n '__tfprof_in single \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -o no-pager -d 'The opposite of --pager'
complete -c tfprof -n '__tfprof_in kebab \'\' op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor shell demo' -l no-pager -d 'The opposite of --pager'

complete -c tfprof -n '__tfprof_in snake \'\' shell' -l history -d 'Remember the lines that are typed, in tfprof/history below the folder of the user\'s state (~/.local/state, or XDG_STATE_HOME), or in the file that the environment variable TFPROF_HISTORY names; empty means none'
complete -c tfprof -n '__tfprof_in single \'\' shell' -o history -d 'Remember the lines that are typed, in tfprof/history below the folder of the user\'s state (~/.local/state, or XDG_STATE_HOME), or in the file that the environment variable TFPROF_HISTORY names; empty means none'
complete -c tfprof -n '__tfprof_in snake \'\' shell' -l no-history -d 'The opposite of --history'
complete -c tfprof -n '__tfprof_in single \'\' shell' -o no-history -d 'The opposite of --history'
complete -c tfprof -n '__tfprof_in kebab \'\' shell' -l no-history -d 'The opposite of --history'

complete -c tfprof -n '__tfprof_in snake op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor completion' -s o -r -F -d 'Write to a file; - is stdout'
complete -c tfprof -n '__tfprof_in snake op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor completion' -l outfile -r -F -d 'Write to a file; - is stdout'
complete -c tfprof -n '__tfprof_in single op scope graph code advise flops summary info checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor doctor completion' -o outfile -r -F -d 'Write to a file; - is stdout'

complete -c tfprof -n '__tfprof_in snake op scope graph code advise flops summary info timeline pprof export convert checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace doctor dot completion' -l force -d 'Overwrite the file if it exists'
complete -c tfprof -n '__tfprof_in single op scope graph code advise flops summary info timeline pprof export convert checkpoint tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace doctor dot completion' -o force -d 'Overwrite the file if it exists'

complete -c tfprof -n '__tfprof_in snake advise' -l checkers -x -d 'Checkers to run, separated by commas'
complete -c tfprof -n '__tfprof_in single advise' -o checkers -x -d 'Checkers to run, separated by commas'

complete -c tfprof -n '__tfprof_in snake advise' -l show_library_frames -d 'Blame the innermost line of a call stack, even in TensorFlow, Keras or another installed package'
complete -c tfprof -n '__tfprof_in single advise' -o show_library_frames -d 'Blame the innermost line of a call stack, even in TensorFlow, Keras or another installed package'
complete -c tfprof -n '__tfprof_in kebab advise' -l show-library-frames -d 'Blame the innermost line of a call stack, even in TensorFlow, Keras or another installed package'

complete -c tfprof -n '__tfprof_in snake advise' -l format -x -a 'text json' -d 'text: to read. json: with all numbers behind each finding'
complete -c tfprof -n '__tfprof_in single advise' -o format -x -a 'text json' -d 'text: to read. json: with all numbers behind each finding'

complete -c tfprof -n '__tfprof_in snake flops summary' -l graph_path -r -F -d 'Another way to give PATH'
complete -c tfprof -n '__tfprof_in single flops summary' -o graph_path -r -F -d 'Another way to give PATH'
complete -c tfprof -n '__tfprof_in kebab flops summary' -l graph-path -r -F -d 'Another way to give PATH'

complete -c tfprof -n '__tfprof_in snake flops summary' -l batch -x -d 'First dimension of the inputs, where the graph leaves it open'
complete -c tfprof -n '__tfprof_in single flops summary' -o batch -x -d 'First dimension of the inputs, where the graph leaves it open'

complete -c tfprof -n '__tfprof_in snake flops summary' -l input_shape -x -d 'Shape of an input, such as images=8,224,224,3; ? leaves a dimension open'
complete -c tfprof -n '__tfprof_in single flops summary' -o input_shape -x -d 'Shape of an input, such as images=8,224,224,3; ? leaves a dimension open'
complete -c tfprof -n '__tfprof_in kebab flops summary' -l input-shape -x -d 'Shape of an input, such as images=8,224,224,3; ? leaves a dimension open'

complete -c tfprof -n '__tfprof_in snake flops summary' -l trip_count -x -d 'How often a loop runs of which the graph does not tell it; without a name, all of them'
complete -c tfprof -n '__tfprof_in single flops summary' -o trip_count -x -d 'How often a loop runs of which the graph does not tell it; without a name, all of them'
complete -c tfprof -n '__tfprof_in kebab flops summary' -l trip-count -x -d 'How often a loop runs of which the graph does not tell it; without a name, all of them'

complete -c tfprof -n '__tfprof_in snake flops summary' -l signature -x -d 'Of a SavedModel, the signature to call'
complete -c tfprof -n '__tfprof_in single flops summary' -o signature -x -d 'Of a SavedModel, the signature to call'

complete -c tfprof -n '__tfprof_in snake flops summary' -l static -d 'Of a recorded run, count all ops of the graph'
complete -c tfprof -n '__tfprof_in single flops summary' -o static -d 'Of a recorded run, count all ops of the graph'

complete -c tfprof -n '__tfprof_in snake flops' -l by -x -a 'layer type op' -d 'What the rows are: layers (name scopes), op types or ops'
complete -c tfprof -n '__tfprof_in single flops' -o by -x -a 'layer type op' -d 'What the rows are: layers (name scopes), op types or ops'

complete -c tfprof -n '__tfprof_in snake flops' -l explain -d 'Show how each op was counted: formula, derivation, source and numbers; the same as --by op'
complete -c tfprof -n '__tfprof_in single flops' -o explain -d 'Show how each op was counted: formula, derivation, source and numbers; the same as --by op'

complete -c tfprof -n '__tfprof_in snake flops summary' -l convention -x -a 'flops macs' -d 'Unit of tables and shares: flops, of which a multiply-add is two, or macs, multiply-adds'
complete -c tfprof -n '__tfprof_in single flops summary' -o convention -x -a 'flops macs' -d 'Unit of tables and shares: flops, of which a multiply-add is two, or macs, multiply-adds'

complete -c tfprof -n '__tfprof_in snake flops summary' -l depth -x -d 'Levels of layers or scopes'
complete -c tfprof -n '__tfprof_in single flops summary' -o depth -x -d 'Levels of layers or scopes'

complete -c tfprof -n '__tfprof_in snake flops summary' -l top -x -d 'Rows inside each layer, the most expensive ones; one more row stands for the others'
complete -c tfprof -n '__tfprof_in single flops summary' -o top -x -d 'Rows inside each layer, the most expensive ones; one more row stands for the others'

complete -c tfprof -n '__tfprof_in snake flops summary' -l device -x -d 'Estimate the least time on a device, such as a100, h100, t4, tpu-v4, cpu:16x2.5x32:100 (cores, GHz, float32 operations per core and cycle, GB/s), or 312e12,1.5e12 (operations and bytes per second)'
complete -c tfprof -n '__tfprof_in single flops summary' -o device -x -d 'Estimate the least time on a device, such as a100, h100, t4, tpu-v4, cpu:16x2.5x32:100 (cores, GHz, float32 operations per core and cycle, GB/s), or 312e12,1.5e12 (operations and bytes per second)'

complete -c tfprof -n '__tfprof_in snake flops summary' -l format -x -a 'text json csv html' -d 'text: to read. json, csv: all numbers; counts that are open are texts. html: a page'
complete -c tfprof -n '__tfprof_in single flops summary' -o format -x -a 'text json csv html' -d 'text: to read. json, csv: all numbers; counts that are open are texts. html: a page'

complete -c tfprof -n '__tfprof_in snake info' -l format -x -a 'text json csv' -d 'text: to read. json: everything, one step a line. csv: the steps. What is unknown or does not apply is null in json, where "missing" says why, and empty in csv'
complete -c tfprof -n '__tfprof_in single info' -o format -x -a 'text json csv' -d 'text: to read. json: everything, one step a line. csv: the steps. What is unknown or does not apply is null in json, where "missing" says why, and empty in csv'

complete -c tfprof -n '__tfprof_in snake timeline' -l view -x -a 'graph scope code device' -d 'graph: what ran when, on each device, with arrows for data flow and with memory. scope, code: a flame chart of total times. device: rows as TensorFlow\'s client timeline has them'
complete -c tfprof -n '__tfprof_in single timeline' -o view -x -a 'graph scope code device' -d 'graph: what ran when, on each device, with arrows for data flow and with memory. scope, code: a flame chart of total times. device: rows as TensorFlow\'s client timeline has them'

complete -c tfprof -n '__tfprof_in snake timeline' -l every_step -d 'Put all steps into one file, instead of one file for each'
complete -c tfprof -n '__tfprof_in single timeline' -o every_step -d 'Put all steps into one file, instead of one file for each'
complete -c tfprof -n '__tfprof_in kebab timeline' -l every-step -d 'Put all steps into one file, instead of one file for each'

complete -c tfprof -n '__tfprof_in snake timeline' -s o -r -F -d 'The file; .json, or .json.gz to pack it; - is stdout'
complete -c tfprof -n '__tfprof_in snake timeline' -l outfile -r -F -d 'The file; .json, or .json.gz to pack it; - is stdout'
complete -c tfprof -n '__tfprof_in single timeline' -o outfile -r -F -d 'The file; .json, or .json.gz to pack it; - is stdout'

complete -c tfprof -n '__tfprof_in snake pprof' -l view -x -a 'code device' -d 'code: the Python lines, with all that their ops cost; needs an op log or a profile with call stacks. device: what ran in one step, a file for each device'
complete -c tfprof -n '__tfprof_in single pprof' -o view -x -a 'code device' -d 'code: the Python lines, with all that their ops cost; needs an op log or a profile with call stacks. device: what ran in one step, a file for each device'

complete -c tfprof -n '__tfprof_in snake pprof' -l show_library_frames -d 'Write the lines of TensorFlow and other libraries, too'
complete -c tfprof -n '__tfprof_in single pprof' -o show_library_frames -d 'Write the lines of TensorFlow and other libraries, too'
complete -c tfprof -n '__tfprof_in kebab pprof' -l show-library-frames -d 'Write the lines of TensorFlow and other libraries, too'

complete -c tfprof -n '__tfprof_in snake pprof' -s o -r -F -d 'The file, which pprof wants packed; - is stdout'
complete -c tfprof -n '__tfprof_in snake pprof' -l outfile -r -F -d 'The file, which pprof wants packed; - is stdout'
complete -c tfprof -n '__tfprof_in single pprof' -o outfile -r -F -d 'The file, which pprof wants packed; - is stdout'

complete -c tfprof -n '__tfprof_in snake export' -l table -x -a 'ops op_steps steps devices executions memory output_buffers allocations allocator_levels edges call_stacks' -d 'One of: ops, op_steps, steps, devices, executions, memory, output_buffers, allocations, allocator_levels, edges, call_stacks'
complete -c tfprof -n '__tfprof_in single export' -o table -x -a 'ops op_steps steps devices executions memory output_buffers allocations allocator_levels edges call_stacks' -d 'One of: ops, op_steps, steps, devices, executions, memory, output_buffers, allocations, allocator_levels, edges, call_stacks'

complete -c tfprof -n '__tfprof_in snake export' -l list -d 'Say what the tables and their columns are, and read nothing'
complete -c tfprof -n '__tfprof_in single export' -o list -d 'Say what the tables and their columns are, and read nothing'

complete -c tfprof -n '__tfprof_in snake export' -s o -r -F -d 'Write to a file, packed if it ends in .gz, .xz or .zst; - is stdout'
complete -c tfprof -n '__tfprof_in snake export' -l outfile -r -F -d 'Write to a file, packed if it ends in .gz, .xz or .zst; - is stdout'
complete -c tfprof -n '__tfprof_in single export' -o outfile -r -F -d 'Write to a file, packed if it ends in .gz, .xz or .zst; - is stdout'

complete -c tfprof -n '__tfprof_in snake export' -l format -x -a 'csv json jsonl' -d 'csv: unknown is an empty cell, lists are JSON. json: one object with the columns and one row a line. jsonl: one object a line'
complete -c tfprof -n '__tfprof_in single export' -o format -x -a 'csv json jsonl' -d 'csv: unknown is an empty cell, lists are JSON. json: one object with the columns and one row a line. jsonl: one object a line'

complete -c tfprof -n '__tfprof_in snake convert' -l to -x -a 'profile binary text' -d 'profile: one saved profile of everything, several profiles united. binary, text: one message as it is'
complete -c tfprof -n '__tfprof_in single convert' -o to -x -a 'profile binary text' -d 'profile: one saved profile of everything, several profiles united. binary, text: one message as it is'

complete -c tfprof -n '__tfprof_in snake convert' -l constants -d 'Keep the values of constants in a profile'
complete -c tfprof -n '__tfprof_in single convert' -o constants -d 'Keep the values of constants in a profile'
complete -c tfprof -n '__tfprof_in snake convert' -l no-constants -d 'The opposite of --constants'
complete -c tfprof -n '__tfprof_in single convert' -o no-constants -d 'The opposite of --constants'
complete -c tfprof -n '__tfprof_in kebab convert' -l no-constants -d 'The opposite of --constants'

complete -c tfprof -n '__tfprof_in snake convert' -s o -r -F -d 'The file; .gz, .xz and .zst pack it; - is stdout'
complete -c tfprof -n '__tfprof_in snake convert' -l outfile -r -F -d 'The file; .gz, .xz and .zst pack it; - is stdout'
complete -c tfprof -n '__tfprof_in single convert' -o outfile -r -F -d 'The file; .gz, .xz and .zst pack it; - is stdout'

complete -c tfprof -n '__tfprof_in snake checkpoint' -l stats -d 'Read all values and show their minimum, maximum, mean, standard deviation and how many are 0; and how many are NaN or infinite, which are left out of the others'
complete -c tfprof -n '__tfprof_in single checkpoint' -o stats -d 'Read all values and show their minimum, maximum, mean, standard deviation and how many are 0; and how many are NaN or infinite, which are left out of the others'
complete -c tfprof -n '__tfprof_in snake checkpoint' -l no-stats -d 'The opposite of --stats'
complete -c tfprof -n '__tfprof_in single checkpoint' -o no-stats -d 'The opposite of --stats'
complete -c tfprof -n '__tfprof_in kebab checkpoint' -l no-stats -d 'The opposite of --stats'

complete -c tfprof -n '__tfprof_in snake checkpoint' -l recover -d 'Go on where values or names are damaged; notes say what is left out'
complete -c tfprof -n '__tfprof_in single checkpoint' -o recover -d 'Go on where values or names are damaged; notes say what is left out'

complete -c tfprof -n '__tfprof_in snake checkpoint' -l values -d 'Show the values of the named variables, all of them, in full precision'
complete -c tfprof -n '__tfprof_in single checkpoint' -o values -d 'Show the values of the named variables, all of them, in full precision'

complete -c tfprof -n '__tfprof_in snake checkpoint' -l sort -x -a 'name size' -d 'By name, or the largest first'
complete -c tfprof -n '__tfprof_in single checkpoint' -o sort -x -a 'name size' -d 'By name, or the largest first'

complete -c tfprof -n '__tfprof_in snake checkpoint' -l format -x -a 'text json csv' -d 'text: to read. json, csv: all numbers; what is not known is null or empty'
complete -c tfprof -n '__tfprof_in single checkpoint' -o format -x -a 'text json csv' -d 'text: to read. json, csv: all numbers; what is not known is null or empty'

complete -c tfprof -n '__tfprof_in snake tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -l run -x -d 'Which run of a log folder'
complete -c tfprof -n '__tfprof_in single tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -o run -x -d 'Which run of a log folder'

complete -c tfprof -n '__tfprof_in snake tools' -l format -x -a 'text json csv' -d 'text: to read. json: everything, one host a line; of each tool null, or what it misses. csv: the hosts'
complete -c tfprof -n '__tfprof_in single tools' -o format -x -a 'text json csv' -d 'text: to read. json: everything, one host a line; of each tool null, or what it misses. csv: the hosts'

complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -l host -x -d 'One host, by the name of its file up to .xplane.pb'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -o host -x -d 'One host, by the name of its file up to .xplane.pb'

complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline monitor trace' -l step -x -d 'One step, by its number'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline monitor trace' -o step -x -d 'One step, by its number'

complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -l classic -d 'Reproduce TensorBoard\'s Profile tab (xprof 2.24) where it is wrong'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -o classic -d 'Reproduce TensorBoard\'s Profile tab (xprof 2.24) where it is wrong'
complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -l no-classic -d 'The opposite of --classic'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -o no-classic -d 'The opposite of --classic'
complete -c tfprof -n '__tfprof_in kebab overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -l no-classic -d 'The opposite of --classic'

complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor' -l table -x -d 'One table only; with --format csv, all writes each into a file of its own, -o NAME.csv with the name of the table in it'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor' -o table -x -d 'One table only; with --format csv, all writes each into a file of its own, -o NAME.csv with the name of the table in it'

complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor' -l top -x -d 'Rows of each table; 0 is all'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor' -o top -x -d 'Rows of each table; 0 is all'

complete -c tfprof -n '__tfprof_in snake overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor' -l format -x -a 'text json csv gviz' -d 'text: to read. json: everything. csv: one table. gviz: JSON of the form that TensorBoard\'s Profile tab takes; with --classic its very numbers'
complete -c tfprof -n '__tfprof_in single overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor' -o format -x -a 'text json csv gviz' -d 'text: to read. json: everything. csv: one table. gviz: JSON of the form that TensorBoard\'s Profile tab takes; with --classic its very numbers'

complete -c tfprof -n '__tfprof_in snake op-profile' -l by -x -a 'program category provenance' -d 'What the upper levels of the tree are: XLA programs, categories of ops, or the framework\'s names'
complete -c tfprof -n '__tfprof_in single op-profile' -o by -x -a 'program category provenance' -d 'What the upper levels of the tree are: XLA programs, categories of ops, or the framework\'s names'

complete -c tfprof -n '__tfprof_in snake memory-viewer graph-viewer' -l program -x -d 'One XLA program, by its name or number'
complete -c tfprof -n '__tfprof_in single memory-viewer graph-viewer' -o program -x -d 'One XLA program, by its name or number'

complete -c tfprof -n '__tfprof_in snake graph-viewer' -l node -x -d 'The instruction in the middle'
complete -c tfprof -n '__tfprof_in single graph-viewer' -o node -x -d 'The instruction in the middle'

complete -c tfprof -n '__tfprof_in snake graph-viewer' -l width -x -d 'How many steps to go from there'
complete -c tfprof -n '__tfprof_in single graph-viewer' -o width -x -d 'How many steps to go from there'

complete -c tfprof -n '__tfprof_in snake trace' -s o -r -F -d 'The file to write; packed if it ends in .gz, .xz or .zst; - is stdout'
complete -c tfprof -n '__tfprof_in snake trace' -l outfile -r -F -d 'The file to write; packed if it ends in .gz, .xz or .zst; - is stdout'
complete -c tfprof -n '__tfprof_in single trace' -o outfile -r -F -d 'The file to write; packed if it ends in .gz, .xz or .zst; - is stdout'

complete -c tfprof -n '__tfprof_in snake doctor' -l server -x -d 'Ask whether a profiler server answers there; several are separated by commas'
complete -c tfprof -n '__tfprof_in single doctor' -o server -x -d 'Ask whether a profiler server answers there; several are separated by commas'

complete -c tfprof -n '__tfprof_in snake doctor' -l strict -d 'Exit with 1 on warnings, too'
complete -c tfprof -n '__tfprof_in single doctor' -o strict -d 'Exit with 1 on warnings, too'

complete -c tfprof -n '__tfprof_in snake doctor' -l format -x -a 'text json' -d 'text: to read. json: every check, one a line, with its status, message, remedy and command'
complete -c tfprof -n '__tfprof_in single doctor' -o format -x -a 'text json' -d 'text: to read. json: every check, one a line, with its status, message, remedy and command'

complete -c tfprof -n '__tfprof_in snake dot' -s o -r -F -d 'The picture; its name ends in .svg, .pdf or .png'
complete -c tfprof -n '__tfprof_in snake dot' -l outfile -r -F -d 'The picture; its name ends in .svg, .pdf or .png'
complete -c tfprof -n '__tfprof_in single dot' -o outfile -r -F -d 'The picture; its name ends in .svg, .pdf or .png'

complete -c tfprof -n '__tfprof_in any op scope graph code advise info timeline pprof export convert shell' -F

complete -c tfprof -n '__tfprof_in any flops summary' -F

complete -c tfprof -n '__tfprof_in any checkpoint' -F

complete -c tfprof -n '__tfprof_in any tools overview input-pipeline tf-data op-stats kernel-stats memory pod op-profile hlo-stats roofline memory-viewer graph-viewer monitor trace' -F

complete -c tfprof -n '__tfprof_in any doctor' -F

complete -c tfprof -n '__tfprof_in any dot' -F

complete -c tfprof -n '__tfprof_in any completion' -a 'bash zsh fish'
