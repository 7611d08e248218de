# Sourced by the entrypoints of the storeproof/* images (bash).
set -euo pipefail

# serve USER COMMAND...: the server becomes this very process, as its own
# user. It is PID 1 then: `docker kill -s KILL` kills the server itself, and
# `docker stop` is the server's own clean stop.
serve() {
    local user=$1
    shift
    if [ "$(id -u)" -ne 0 ]; then exec "$@"; fi
    exec setpriv --reuid="$user" --regid="$user" --init-groups -- "$@"
}

# as USER COMMAND...: the same for a step on the way.
as() (
    serve "$@"
)

# own USER DIRECTORY: a fresh or bind-mounted volume belongs to root.
own() {
    if [ "$(id -u)" -ne 0 ]; then return 0; fi
    find "$2" \! -user "$1" -exec chown "$1:" {} +
}

# first_start DIRECTORY FUNCTION: when the data directory is empty, FUNCTION
# fills DIRECTORY/.init, and the result moves up when it is complete. A
# container killed in between starts from the beginning the next time, instead
# of running on half a data directory. What FUNCTION wrote is synced before it
# moves: else a power cut could leave it complete and empty.
first_start() {
    local directory=$1 fill=$2
    if [ -e "$directory/.init" ]; then
        find "$directory" -mindepth 1 -delete
    fi
    if [ -n "$(find "$directory" -mindepth 1 -maxdepth 1 \! -name lost+found -print -quit)" ]; then
        return 0
    fi
    mkdir -m 700 "$directory/.init"
    "$fill" "$directory/.init"
    sync -f "$directory"
    find "$directory/.init" -mindepth 1 -maxdepth 1 -exec mv -t "$directory" {} +
    rmdir "$directory/.init"
    sync -f "$directory"
}

# quoted TEXT: TEXT as an SQL string for MariaDB and MySQL.
quoted() {
    local text=${1//\\/\\\\}
    printf "'%s'" "${text//\'/\'\'}"
}

fail() {
    echo "entrypoint: $*" >&2
    exit 1
}
