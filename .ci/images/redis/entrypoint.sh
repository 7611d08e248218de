#!/bin/bash
. /usr/local/lib/storeproof/common.sh

case ${1:-} in -* | *.conf) set -- redis-server "$@" ;; esac

if [ "${1:-}" = redis-server ]; then
    own redis /data
    # Like the official image: the published port answers without a password
    # unless one is configured.
    case " $* " in
        *' --protected-mode '*) ;;
        *) set -- "$@" --protected-mode no ;;
    esac
    serve redis "$@"
fi
exec "$@"
