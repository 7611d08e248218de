#!/bin/bash
. /usr/local/lib/storeproof/common.sh

# Both spellings of the official image's variables.
setting() {
    local mariadb=MARIADB_$1 mysql=MYSQL_$1
    printf '%s' "${!mariadb:-${!mysql:-}}"
}

sql() {
    local password user database
    password=$(quoted "$(setting ROOT_PASSWORD)")
    echo "FLUSH PRIVILEGES;"
    echo "ALTER USER root@localhost IDENTIFIED BY $password;"
    echo "CREATE USER root@'%' IDENTIFIED BY $password;"
    echo "GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;"
    database=$(setting DATABASE) user=$(setting USER)
    if [ -n "$database" ]; then echo "CREATE DATABASE \`$database\`;"; fi
    if [ -n "$user" ] && [ "$user" != root ]; then
        echo "CREATE USER $(quoted "$user")@'%' IDENTIFIED BY $(quoted "$(setting PASSWORD)");"
        if [ -n "$database" ]; then
            echo "GRANT ALL PRIVILEGES ON \`$database\`.* TO $(quoted "$user")@'%';"
        fi
    fi
}

# --bootstrap reads the statements from its input and never opens a port: who
# waits for the port cannot take the preparation for the server.
fill() {
    mariadb-install-db --datadir="$1" --auth-root-authentication-method=normal \
        --skip-test-db --skip-name-resolve >&2
    sql | mariadbd --no-defaults --user=mysql --datadir="$1" --bootstrap >&2
    own mysql "$1"
}

case ${1:-} in -*) set -- mariadbd "$@" ;; esac

case ${1:-} in
    mariadbd | mysqld)
        if [ -z "$(setting ROOT_PASSWORD)$(setting ALLOW_EMPTY_ROOT_PASSWORD)${MYSQL_ALLOW_EMPTY_PASSWORD:-}" ]; then
            fail 'MARIADB_ROOT_PASSWORD is not set'
        fi
        own mysql /var/lib/mysql
        first_start /var/lib/mysql fill
        own mysql /var/lib/mysql
        serve mysql mariadbd "${@:2}"
        ;;
esac
exec "$@"
