#!/bin/sh
# Runs as root while a development container is built. Options come as variables: VERSION, SANDBOX.
set -eu

version=${VERSION:-latest}
case $version in
  *[!A-Za-z0-9.+-]*) echo "nutcracker: \"$version\" is no version" >&2; exit 1 ;;
esac
if ! command -v npm >/dev/null 2>&1; then
  echo "nutcracker: npm is missing; add ghcr.io/devcontainers/features/node to the features" >&2
  exit 1
fi
if [ "${SANDBOX:-true}" = true ] && ! command -v bwrap >/dev/null 2>&1; then
  if command -v apt-get >/dev/null 2>&1; then
    apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
  elif command -v apk >/dev/null 2>&1; then
    apk add --no-cache bubblewrap
  elif command -v dnf >/dev/null 2>&1; then
    dnf install -y bubblewrap
  else
    echo "nutcracker: bubblewrap is not installed: no package program that is known here" >&2
  fi
fi
npm install -g "nutcracker@$version"
