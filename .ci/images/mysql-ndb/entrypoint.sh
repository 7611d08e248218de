#!/bin/bash
# entrypoint.sh [NAME=VALUE | ndb_name=VALUE | --option]...: settings of the
# data nodes, as config.ini writes them, and variables and options of mysqld.
#
# This shell stays and looks after the processes. A data node that is killed is
# started again, as an init system would do, and one that ends by itself three
# times, as NDB's own angel would do (MaxStartFailRetries). When mysqld ends, or
# no data node is started again, all ends.
# The pid of each is in /run/ndb/NAME.pid: data-1, data-2, management, mysqld.
. /usr/local/lib/storeproof/common.sh

DATA=/var/lib/mysql-cluster
RUN=/run/ndb
READY=$DATA/.ready
KILLED=137

sql() {
    local password
    password=$(quoted "${MYSQL_ROOT_PASSWORD:-}")
    # One statement a line, no line breaks inside: that is what --init-file reads.
    # The accounts are made here, before mysqld knows the cluster: GRANT ALL
    # with the engine loaded moves an account into the cluster, from where it
    # does not come back after a start on an empty one.
    echo "ALTER USER root@localhost IDENTIFIED BY $password;"
    echo "CREATE USER root@'%' IDENTIFIED BY $password;"
    echo "GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;"
    if [ -n "${MYSQL_DATABASE:-}" ]; then echo "CREATE DATABASE \`$MYSQL_DATABASE\`;"; fi
}

# Until the cluster was ready once, its files are half of a cluster: a start
# begins from nothing.
first() {
    if [ -e $READY ]; then return 0; fi
    find $DATA -mindepth 1 -delete
    mkdir -m 700 $DATA/{mysqld,management,data-1,data-2}
    local statements
    statements=$(mktemp)
    sql >"$statements"
    own mysql $DATA
    own mysql "$statements"
    as mysql mysqld "${options[@]}" --skip-ndbcluster --initialize-insecure --init-file="$statements"
    rm -f "$statements"
}

# run NAME COMMAND...: the pid in the file is the program's own.
run() (
    echo $BASHPID >$RUN/"$1".pid.new
    mv $RUN/"$1".pid.new $RUN/"$1".pid
    serve mysql "${@:2}"
)

keep() {
    local status retries=3
    while true; do
        status=0
        run "$@" || status=$?
        if [ -e $RUN/ending ]; then return 0; fi
        echo "entrypoint: $1 ended with status $status" >&2
        if [ $status -ne $KILLED ] && ((retries-- == 0)); then break; fi
        sleep 0.2
    done
    echo "entrypoint: $1 is not started again" >&2
    touch "$RUN/$1.down"
    if [ -e $RUN/data-1.down ] && [ -e $RUN/data-2.down ]; then
        kill -KILL "$(<$RUN/mysqld.pid)"
    fi
}

listens() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The data nodes' own shutdown takes in what was acknowledged; mysqld goes
# first, so that no write is acknowledged afterwards.
end() {
    trap '' TERM INT
    touch $RUN/ending
    kill -TERM "$(<$RUN/mysqld.pid)" 2>/dev/null || true
    wait "$mysqld" || true
    ndb_mgm --ndb-connectstring=127.0.0.1:1186 --connect-retries=3 --connect-retry-delay=1 --execute=shutdown &
    # Not for the management server, nor for its client: they keep nothing, and take five seconds to take leave of each other.
    wait "${nodes[@]}"
    exit 0
}

if [ -z "${MYSQL_ROOT_PASSWORD:-}${MYSQL_ALLOW_EMPTY_PASSWORD:-}" ]; then
    fail 'MYSQL_ROOT_PASSWORD is not set'
fi
settings='' options=()
for argument; do
    case $argument in
        -*) options+=("$argument") ;;
        # A variable of mysqld; those of data nodes have other names. --loose: the first start is without the engine, and does not know it.
        ndb_*=*) options+=("--loose-$argument") ;;
        *=*) settings+="${argument%%=*} = ${argument#*=}"$'\n' ;;
        *) fail "$argument is neither NAME=VALUE nor an option" ;;
    esac
done

# Also the socket of a mysqld that was killed: it would keep the next one from starting where that has another pid.
rm -rf "${RUN:?}"/* /run/mysqld/*
own mysql $DATA
first
awk -v settings="$settings" '{print} $0 == "[ndbd default]" {printf "%s", settings}' \
    /etc/ndb/config.ini >$RUN/config.ini

keep management ndb_mgmd --nodaemon --initial --skip-config-cache --config-file=$RUN/config.ini &
# A data node that finds no management server waits for seconds before it asks again.
until listens 1186; do sleep 0.05; done
nodes=()
for node in 1 2; do
    # --foreground: without it the pid would be that of an angel, and not of the node.
    keep data-$node ndbmtd --foreground --ndb-nodeid=$node --ndb-connectstring=127.0.0.1:1186 \
        --connect-retry-delay=1 &
    nodes+=($!)
done
run mysqld mysqld --ndbcluster "${options[@]}" &
mysqld=$!
trap end TERM INT
if [ ! -e $READY ]; then
    (until [ -e $RUN/ending ]; do
        if ndb-ready 2 >/dev/null 2>&1; then
            touch $READY
            break
        fi
        sleep 0.1
    done) &
fi
status=0
wait "$mysqld" || status=$?
fail "mysqld ended with status $status"
