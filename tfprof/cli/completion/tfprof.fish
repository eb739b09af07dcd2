# Completion of tfprof for fish; printed by: tfprof completion fish
function __tfprof_completion
    for line in (env COMP_WORDS=(commandline -cp | string collect) \
            _TFPROF_COMPLETE=fish_complete tfprof)
        set -l fields (string split \t -- $line)
        switch $fields[1]
            case file
                for path in (__fish_complete_path $fields[3])
                    printf '%s\n' $fields[2]$path
                end
            case folder
                for path in (__fish_complete_directories $fields[3])
                    printf '%s\n' $fields[2]$path
                end
            case whole open
                printf '%s\t%s\n' $fields[2] $fields[3]
        end
    end
end

complete -c tfprof -e
complete -c tfprof -f -a '(__tfprof_completion)'
