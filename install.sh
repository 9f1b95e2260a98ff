#!/bin/sh
# Installs nutshell and nexus as single files, after checking what was fetched.
# `sh install.sh --help` says how. Works when it is piped into sh, too.
set -eu
# What is made here is for everybody to use and for nobody else to change.
umask 022

# Read to its end before anything is done: what arrives cut short does nothing.
{
# The address of the project's releases, for whoever gives none. This line is the one place that names it.
releases=''

fail() {
  printf 'install: error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'install: hint: %s\n' "$2" >&2
  exit 2
}

explain() {
  cat <<'END'
Installs nutshell and nexus as single files, after checking what was fetched.

  sh install.sh --from https://example.org/releases/v0.1.0
  sh install.sh --from ./dist-standalone --prefix ~/.local

--from, or NUTCRACKER_BASE_URL: the address or folder that holds the files and SHA256SUMS
--prefix, or PREFIX: where bin/ is (default: ~/.local)
END
}

from=${NUTCRACKER_BASE_URL:-$releases}
prefix=${PREFIX:-}
while [ $# -gt 0 ]; do
  case $1 in
    --from | --prefix)
      [ $# -ge 2 ] || fail "$1 needs a value"
      if [ "$1" = --from ]; then from=$2; else prefix=$2; fi
      shift 2
      ;;
    -h | --help)
      explain
      exit 0
      ;;
    *) fail "unknown argument $1" "sh install.sh --help" ;;
  esac
done
if [ -z "$prefix" ]; then
  [ -n "${HOME:-}" ] || fail "there is no home folder: HOME is not set" "sh install.sh --prefix /usr/local"
  prefix=$HOME/.local
fi
if [ -z "$from" ]; then
  explain >&2
  printf '\n' >&2
  fail "this copy names no release address, so it must be told one" "npm run build:standalone && sh install.sh --from dist-standalone"
fi

case $(uname -s) in
  Linux) os=linux suffix='' ;;
  Darwin) os=darwin suffix='' ;;
  MINGW* | MSYS* | CYGWIN*) os=windows suffix=.exe ;;
  *) fail "no single file is made for $(uname -s)" "npm install -g nutcracker" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "no single file is made for $(uname -m)" "npm install -g nutcracker" ;;
esac
[ "$os-$arch" != windows-arm64 ] || arch=amd64

# In the folder itself, where nobody else may rename what was checked, as they may in some temporary folders.
bin=$prefix/bin
made='' work='' dir=$bin
while [ ! -d "$dir" ]; do
  made=$dir
  dir=$(dirname "$dir")
done
# Folders that were made for nothing go again, as far as they are empty.
leave() {
  [ -z "$work" ] || rm -rf "$work"
  [ -n "$made" ] || return 0
  dir=$bin
  while rmdir "$dir" 2>/dev/null && [ "$dir" != "$made" ]; do dir=$(dirname "$dir"); done
}
trap leave EXIT
mkdir -p "$bin" || fail "cannot make $bin" "sh install.sh --prefix ~/.local"
work=$(mktemp -d "$bin/.nutcracker.XXXXXX") || fail "cannot write to $bin" "sh install.sh --prefix ~/.local"
trap 'exit 130' INT
trap 'exit 143' TERM

# Whoever the address names is nobody's business.
shown=$(printf '%s\n' "$from" | sed 's|//[^/]*@|//|')

# wget cannot be told where a redirect may lead: each one is looked at here.
follow() {
  url=${from%/}/$1
  for _ in 1 2 3 4 5; do
    said=$(LC_ALL=C wget -S --max-redirect=0 -O "$work/$1" "$url" 2>&1) && return
    url=$(printf '%s\n' "$said" | sed -n 's/^ *[Ll]ocation: *\(https:[^[:space:]]*\).*/\1/p' | head -n 1)
    [ -n "$url" ] || break
  done
  fail "could not fetch $1 from $shown"
}

fetch() {
  case $from in
    http://*@*) fail "$shown names somebody: only https may" ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*)
      if command -v curl >/dev/null 2>&1; then
        curl -fsSL --proto-redir =https --retry 2 -o "$work/$1" "${from%/}/$1" || fail "could not fetch $1 from $shown"
      elif command -v wget >/dev/null 2>&1; then
        follow "$1"
      else
        fail "neither curl nor wget is there to fetch with" "apt-get install curl"
      fi
      ;;
    *://*) fail "$shown is neither https nor this machine: what it sends could be changed on the way" ;;
    *) cp "$from/$1" "$work/$1" 2>/dev/null || fail "there is no $1 in $shown" "npm run build:standalone makes dist-standalone" ;;
  esac
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1"
  else
    fail "neither sha256sum nor shasum is there to check with"
  fi
}

# Everything is fetched and checked before anything is installed.
fetch SHA256SUMS
for tool in nutshell nexus; do
  name=$tool-$os-$arch$suffix
  # Words of a list that is fetched are not shown unless they are a digest.
  wanted=$(awk -v name="$name" '($2 == name || $2 == "*" name) && length($1) == 64 && $1 !~ /[^0-9a-f]/ { print $1 }' "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS does not name $name"
  fetch "$name"
  got=$(digest "$work/$name" | awk '{ print $1 }')
  [ "$got" = "$wanted" ] || fail "$name is not what SHA256SUMS says: $got, expected $wanted" "fetch it again, or ask who published it"
done

chmod 755 "$work/nutshell-$os-$arch$suffix" "$work/nexus-$os-$arch$suffix"
mv -f "$work/nutshell-$os-$arch$suffix" "$bin/nutshell$suffix"
mv -f "$work/nexus-$os-$arch$suffix" "$bin/nexus$suffix"
printf '%s\n' "$bin/nutshell$suffix" "$bin/nexus$suffix"
case :$PATH: in
  *:"$bin":*) ;;
  *) printf 'install: hint: add %s to your PATH\n' "$bin" >&2 ;;
esac
}
