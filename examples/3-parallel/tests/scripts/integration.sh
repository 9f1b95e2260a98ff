#!/bin/sh
# The program as a person runs it, on the table that travels with the task.
set -eu
got=$(node files/main.mjs files/data/sales.csv)
want='South, coast: 20.20 (1 sale)
North: 10.30 (2 sales)
East: 5.00 (1 sale)'
[ "$got" = "$want" ] || { printf 'expected:\n%s\ngot:\n%s\n' "$want" "$got"; exit 1; }
echo "the report is right"
