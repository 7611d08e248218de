#!/bin/bash
. /usr/local/lib/storeproof/common.sh

if [ "${1##*/}" = redis-server ]; then
    own redis-stack /data
    # Like the official image: the published port answers without a password
    # unless one is configured.
    case " $* " in
        *' --protected-mode '*) ;;
        *) set -- "$@" --protected-mode no ;;
    esac
    serve redis-stack "$@"
fi
exec "$@"
