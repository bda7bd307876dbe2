#!/bin/sh
# fetch.sh scs|qdldl|openblas|osqp-sys ...
#
# Puts the pinned sources of the C libraries into build/src, with the ordinary
# package clients, and checks their sums. What is there already is only checked,
# so that a machine without a network can be served by copying that folder.
# A wrong or a missing sum stops with a message and exit code 1.
#
#   DEPS_SRC   folder for the sources, build/src beside this script if unset
#   DEPS_PINS  folder of the pins, pins beside this script if unset
set -eu
here=$(cd "$(dirname "$0")" && pwd)
src=${DEPS_SRC:-$here/build/src}
pins=${DEPS_PINS:-$here/pins}
tmp=

die() {
    echo "cgo/fetch.sh: $*" >&2
    exit 1
}

cleanup() { [ -z "$tmp" ] || rm -rf "$tmp"; }
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

program="sha256sum"
command -v sha256sum >/dev/null || program="shasum -a 256"

sha256() { $program | cut -d' ' -f1; }

# tree_sum DIR: one sum over the names and contents of all files.
tree_sum() {
    (cd "$1" && find . -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 $program | sha256)
}

# pinned NAME: the sums that the pin allows, one a line.
pinned() {
    [ -f "$pins/$1.txt" ] || die "no pin for $1 in $pins"
    list=$(sed -n 's/.*--hash=sha256:\([0-9a-f]\{64\}\).*/\1/p' "$pins/$1.txt")
    [ -n "$list" ] || die "pins/$1.txt holds no sha256 sum; a source without one is not used"
    echo "$list"
}

# check NAME SUM WHAT: stops unless SUM is pinned for NAME.
check() {
    allowed=$(pinned "$1")
    for s in $allowed; do
        if [ "$s" = "$2" ]; then return; fi
    done
    die "$3 has the sha256 sum
    $2
but pins/$1.txt allows
$(echo "$allowed" | sed 's/^/    /')
Delete it to fetch it again. If the pin is out of date, change it by hand after looking at the source."
}

# find_file PATTERN: the one file in build/src that fits, or nothing.
find_file() {
    for f in "$src"/$1; do
        if [ -f "$f" ]; then
            echo "$f"
            return
        fi
    done
}

# place FILE: moves a checked download into build/src, all at once.
place() { mv -f "$1" "$src/"; }

# with_pip NAME PATTERN OPTION...: pip checks the pin before it unpacks anything.
with_pip() {
    name=$1 pattern=$2
    shift 2
    pinned "$name" >/dev/null
    f=$(find_file "$pattern")
    if [ -z "$f" ]; then
        command -v "${PYTHON:-python3}" >/dev/null || die "fetching $name needs python3 with pip; or put $pattern into $src"
        echo "fetching $name"
        tmp=$(mktemp -d "$src/fetch.XXXXXX")
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here/nobuild "${PYTHON:-python3}" -m pip download --quiet --disable-pip-version-check --no-deps \
            --require-hashes "$@" -d "$tmp" -r "$pins/$name.txt" ||
            die "pip could not fetch $name as pinned in pins/$name.txt; without a network put $pattern into $src"
        for f in "$tmp"/$pattern; do
            [ -f "$f" ] || die "pip fetched nothing like $pattern"
            check "$name" "$(sha256 <"$f")" "$f"
            place "$f"
        done
        rm -rf "$tmp"
        tmp=
    else
        check "$name" "$(sha256 <"$f")" "$f"
    fi
}

with_cargo() {
    pinned osqp-sys >/dev/null
    dir=$src/osqp-sys-1.0.1
    if [ ! -d "$dir" ]; then
        command -v cargo >/dev/null || die "fetching osqp-sys needs cargo; or put the folder osqp of the crate osqp-sys 1.0.1 into $dir"
        echo "fetching osqp-sys"
        tmp=$(mktemp -d "$src/fetch.XXXXXX")
        cargo vendor --locked --quiet --manifest-path "$here/crates/Cargo.toml" "$tmp/vendor" >/dev/null ||
            die "cargo could not fetch osqp-sys as pinned in crates/Cargo.lock; without a network put its folder osqp into $dir"
        check osqp-sys "$(tree_sum "$tmp/vendor/osqp-sys/osqp")" "the folder osqp of osqp-sys"
        if [ ! -d "$dir" ]; then mv "$tmp/vendor/osqp-sys/osqp" "$dir"; fi
        rm -rf "$tmp"
        tmp=
    else
        check osqp-sys "$(tree_sum "$dir")" "$dir"
    fi
}

mkdir -p "$src"
for name in "$@"; do
    case $name in
    scs) with_pip scs 'scs-*.tar.gz' --no-binary=:all: --no-build-isolation ;;
    qdldl) with_pip qdldl 'qdldl-*.tar.gz' --no-binary=:all: --no-build-isolation ;;
    openblas) with_pip openblas 'scipy_openblas32-*.whl' --only-binary=:all: ;;
    osqp-sys) with_cargo ;;
    *) die "unknown source $name" ;;
    esac
done
