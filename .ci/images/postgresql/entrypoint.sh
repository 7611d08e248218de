#!/bin/bash
. /usr/local/lib/storeproof/common.sh

user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}

# initdb and --single work on the files alone and never open a port: who waits
# for the port cannot take the preparation for the server.
fill() {
    own postgres "$1"
    local arguments=() secret
    read -r -a arguments <<<"${POSTGRES_INITDB_ARGS:-}"
    secret=$(mktemp)
    printf '%s\n' "${POSTGRES_PASSWORD:-none}" >"$secret"
    own postgres "$secret"
    as postgres initdb --pgdata="$1" --username="$user" --locale=C.UTF-8 --encoding=UTF8 \
        --auth=trust --pwfile="$secret" "${arguments[@]}" >&2
    rm -f "$secret"
    echo "host all all all ${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >>"$1/pg_hba.conf"
    echo "listen_addresses = '*'" >>"$1/postgresql.conf"
    if [ "$database" != postgres ]; then
        echo "CREATE DATABASE \"${database//\"/\"\"}\";" \
            | as postgres postgres --single -D "$1" postgres >&2
    fi
}

case ${1:-} in -*) set -- postgres "$@" ;; esac

if [ "${1:-}" = postgres ]; then
    if [ -z "${POSTGRES_PASSWORD:-}" ] && [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
        fail 'POSTGRES_PASSWORD is not set'
    fi
    mkdir -p "$PGDATA"
    chmod 700 "$PGDATA"
    own postgres "$PGDATA"
    first_start "$PGDATA" fill
    serve postgres "$@"
fi
exec "$@"
