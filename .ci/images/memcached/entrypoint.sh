#!/bin/bash
case ${1:-} in -*) set -- memcached "$@" ;; esac
exec "$@"
