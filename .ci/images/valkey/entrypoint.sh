#!/bin/bash
. /usr/local/lib/storeproof/common.sh

case ${1:-} in -* | *.conf) set -- valkey-server "$@" ;; esac

if [ "${1:-}" = valkey-server ]; then
    own valkey /data
    # Like the official image: the published port answers without a password
    # unless one is configured.
    case " $* " in
        *' --protected-mode '*) ;;
        *) set -- "$@" --protected-mode no ;;
    esac
    serve valkey "$@"
fi
exec "$@"
