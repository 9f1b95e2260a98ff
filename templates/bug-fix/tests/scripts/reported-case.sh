#!/bin/sh
# Makes the bug happen: must fail before the fix and pass after it.
echo "write this check" >&2
exit 1
