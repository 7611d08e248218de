#!/bin/bash
. /usr/local/lib/storeproof/common.sh

case ${1:-} in -*) set -- mongod "$@" ;; esac

if [ "${1:-}" = mongod ]; then
    # The wheel has the server and no shell, and without one no first user can
    # be made from in here. Better to say so than to run without a password.
    if [ -n "${MONGO_INITDB_ROOT_USERNAME:-}${MONGO_INITDB_ROOT_PASSWORD:-}" ]; then
        fail 'this image does not create users: leave MONGO_INITDB_ROOT_* out'
    fi
    own mongodb /data/db
    case " $* " in
        *' --bind_ip'* | *' --config'* | *' -f '*) ;;
        *) set -- "$@" --bind_ip_all ;;
    esac
    serve mongodb "$@"
fi
exec "$@"
