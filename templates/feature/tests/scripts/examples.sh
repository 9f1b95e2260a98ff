#!/bin/sh
# Runs the examples of the requirements.
echo "write this check" >&2
exit 1
