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
    # The accounts without a password and without a name go first.
    echo "DELETE FROM mysql.global_priv WHERE CONCAT(User, '@', Host) NOT IN ('root@localhost', 'mariadb.sys@localhost');"
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
# waits for the port cannot take the preparation for the server. The server's
# own options go with it, since some (the page size) are decided here once and
# for all.
fill() {
    own mysql "$1"
    mariadb-install-db --user=mysql --datadir="$1" --skip-test-db \
        --auth-root-authentication-method=normal --cross-bootstrap "${options[@]}" >&2
    sql | as mysql mariadbd "${options[@]}" --datadir="$1" --bootstrap >&2
}

case ${1:-} in -*) set -- mariadbd "$@" ;; esac

case ${1:-} in
    mariadbd | mysqld)
        if [ -z "$(setting ROOT_PASSWORD)$(setting ALLOW_EMPTY_ROOT_PASSWORD)${MYSQL_ALLOW_EMPTY_PASSWORD:-}" ]; then
            fail 'MARIADB_ROOT_PASSWORD is not set'
        fi
        options=("${@:2}")
        own mysql /var/lib/mysql
        first_start /var/lib/mysql fill
        serve mysql mariadbd "${options[@]}"
        ;;
esac
exec "$@"
