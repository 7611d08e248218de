#!/bin/bash
. /usr/local/lib/storeproof/common.sh

sql() {
    local password user=${MYSQL_USER:-} database=${MYSQL_DATABASE:-}
    password=$(quoted "${MYSQL_ROOT_PASSWORD:-}")
    # One statement a line, no line breaks inside: that is what --init-file reads.
    echo "ALTER USER root@localhost IDENTIFIED BY $password;"
    echo "CREATE USER root@'%' IDENTIFIED BY $password;"
    echo "GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;"
    if [ -n "$database" ]; then echo "CREATE DATABASE \`$database\`;"; fi
    if [ -n "$user" ] && [ "$user" != root ]; then
        echo "CREATE USER $(quoted "$user")@'%' IDENTIFIED BY $(quoted "${MYSQL_PASSWORD:-}");"
        if [ -n "$database" ]; then
            echo "GRANT ALL PRIVILEGES ON \`$database\`.* TO $(quoted "$user")@'%';"
        fi
    fi
}

# --initialize runs the statements and ends without ever opening a port: who
# waits for the port cannot take the preparation for the server. The server's
# own options go with it, since some (page size, case of table names) are
# decided here once and for all.
fill() {
    own mysql "$1"
    local statements
    statements=$(mktemp)
    sql >"$statements"
    own mysql "$statements"
    as mysql mysqld "${options[@]}" --initialize-insecure --datadir="$1" \
        --init-file="$statements"
    rm -f "$statements"
}

case ${1:-} in -*) set -- mysqld "$@" ;; esac

if [ "${1:-}" = mysqld ]; then
    if [ -z "${MYSQL_ROOT_PASSWORD:-}${MYSQL_ALLOW_EMPTY_PASSWORD:-}" ]; then
        fail 'MYSQL_ROOT_PASSWORD is not set'
    fi
    options=("${@:2}")
    own mysql /var/lib/mysql
    first_start /var/lib/mysql fill
    serve mysql "$@"
fi
exec "$@"
