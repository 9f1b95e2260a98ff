#!/bin/sh
# Gives it what it must refuse.
echo "write this check" >&2
exit 1
