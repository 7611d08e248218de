#!/bin/bash
. /usr/local/lib/storeproof/common.sh

case ${1:-} in *.lua) set -- tarantool "$@" ;; esac

if [ "${1:-}" = tarantool ]; then
    own tarantool /var/lib/tarantool
    # Without a script it would be an interactive console.
    if [ $# -eq 1 ]; then set -- tarantool /usr/local/lib/storeproof/default.lua; fi
    serve tarantool "$@"
fi
exec "$@"
