#!/bin/sh
# fetch.sh [-d DIR] scs|qdldl|openblas|osqp-sys|highs-sys|clarabel ...
#
# Puts the pinned sources of the C libraries into the folder of sources, with the
# ordinary package clients, and checks their sums. What is there already is only
# checked, so that a machine without a network can be served by copying that folder.
# Of each source exactly the file that its pin names is used, whatever lies beside it.
#
# With -d it then unpacks them into DIR/scs, DIR/qdldl, DIR/openblas, DIR/osqp and DIR/HiGHS:
# the file is copied into DIR first and the copy is checked, so that what is built is
# what was checked. Links, devices and paths that lead elsewhere are refused.
#
# clarabel is a folder of crates, used where it is: cargo checks each file that it compiles
# against the sums in Cargo.lock.
#
# A wrong or a missing sum, or anything else amiss, stops with a message and exit
# code 1.
#
#   DEPS_SRC   folder for the sources, build/src beside this script if unset
#   DEPS_PINS  folder of the pins, pins beside this script if unset
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
src=${DEPS_SRC:-$here/build/src}
pins=${DEPS_PINS:-$here/pins}
machine=$(uname -m)
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

# pinned NAME: sets file and sum to what the pin allows on this machine. A pin names
# its files on lines "# file: ...", in the order of the sums.
pinned() {
    [ -f "$pins/$1.txt" ] || die "no pin for $1 in $pins"
    sums=$(sed -n 's/.*--hash=sha256:\([0-9a-f]\{64\}\).*/\1/p' "$pins/$1.txt")
    files=$(sed -n 's/^# file: \([A-Za-z0-9][A-Za-z0-9._-]*\)$/\1/p' "$pins/$1.txt")
    [ -n "$sums" ] || die "pins/$1.txt holds no sha256 sum; a source without one is not used"
    [ "$(echo "$sums" | wc -l)" -eq "$(echo "$files" | wc -w)" ] || die "pins/$1.txt does not name one file for each sum"
    file=$files sum=$sums
    if [ "$(echo "$sums" | wc -l)" -gt 1 ]; then
        line=$(echo "$files" | grep -n "_$machine\." | cut -d: -f1)
        case $line in
        *[!0-9]* | "") die "pins/$1.txt names no file, or several, for $machine${2:-}" ;;
        esac
        file=$(echo "$files" | sed -n "${line}p")
        sum=$(echo "$sums" | sed -n "${line}p")
    fi
}

# check NAME SUM WHAT: stops unless SUM is the one that pinned has found.
check() {
    [ "$2" = "$sum" ] || die "$3 has the sha256 sum
    $2
but pins/$1.txt allows
    $sum
Delete it to fetch it again. If the pin is out of date, change it by hand after looking at the source."
}

# plain DIR: stops unless DIR holds nothing but files and folders.
plain() {
    odd=$(find "$1" ! -type f ! -type d -print | head -n 3)
    [ -z "$odd" ] || die "only files and folders are built, no links, pipes or devices:
$odd"
}

# tree_sum DIR: one sum over the names and contents of all files. A name that would
# break a line, or that sha256sum would write in another way, has none.
tree_sum() {
    plain "$1"
    odd=$(find "$1" -name '*[![:print:]]*' -o -name '*\\*')
    [ -z "$odd" ] || die "odd name of a file:
$odd"
    (cd "$1" && find . -type f | sort | tr '\n' '\0' | xargs -0 $program | sha256)
}

# inside FOLDER PATHS: stops unless the paths, one a line, lie in FOLDER, which is a
# regular expression.
inside() {
    odd=$(echo "$2" | grep -v "^$1\(/\|\$\)" || true)
    odd=$odd$(echo "$2" | grep '\(^\|/\)\.\.\(/\|$\)' || true)
    [ -z "$odd" ] || die "$file holds paths outside of its folder:
$odd"
}

# unpack_tar DIR: unpacks $file, the folder of the same name, into DIR.
unpack_tar() {
    kinds=$(tar -tvzf "$1/$file" | cut -c1 | sort -u | tr -d '\n')
    case $kinds in
    *[!d-]*) die "$file holds links, pipes or devices: only files and folders are built" ;;
    esac
    inside "$(echo "${file%.tar.gz}" | sed 's/[.]/[.]/g')" "$(tar -tzf "$1/$file")"
    tar -xozf "$1/$file" -C "$1"
    plain "$1/${file%.tar.gz}"
}

# unpack_wheel DIR TOP: unpacks $file, whose folders begin with TOP, into DIR/openblas.
unpack_wheel() {
    inside "$2[^/]*" "$("${PYTHON:-python3}" -m zipfile -l "$1/$file" | sed -e 1d -e 's/ *[0-9-]* [0-9:]* *[0-9]*$//')"
    "${PYTHON:-python3}" -m zipfile -e "$1/$file" "$1/openblas"
    plain "$1/openblas"
}

# with_pip NAME OPTION...: pip checks the pin before it unpacks anything.
with_pip() {
    name=$1
    shift
    pinned "$name" "; install a BLAS and give its pkg-config name as BLAS_PKG"
    if [ ! -f "$src/$file" ]; then
        command -v "${PYTHON:-python3}" >/dev/null || die "fetching $name needs python3 with pip; or put $file into $src"
        echo "fetching $name"
        tmp=$(mktemp -d "$src/fetch.XXXXXX")
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here/nobuild "${PYTHON:-python3}" -m pip download --quiet --disable-pip-version-check --no-deps \
            --require-hashes "$@" -d "$tmp" -r "$pins/$name.txt" ||
            die "pip could not fetch $name as pinned in pins/$name.txt; without a network put $file into $src"
        [ -f "$tmp/$file" ] || die "pip fetched $(ls "$tmp"), not the $file of pins/$name.txt"
        check "$name" "$(sha256 <"$tmp/$file")" "$tmp/$file"
        mv -f "$tmp/$file" "$src/"
        rm -rf "$tmp"
        tmp=
    fi
    if [ -z "$into" ]; then
        check "$name" "$(sha256 <"$src/$file")" "$src/$file"
        return
    fi
    cp "$src/$file" "$into/$file"
    check "$name" "$(sha256 <"$into/$file")" "$src/$file"
    case $name in
    openblas)
        unpack_wheel "$into" scipy_openblas32
        ;;
    *)
        unpack_tar "$into"
        mv "$into/${file%.tar.gz}" "$into/$name"
        ;;
    esac
    rm -f "$into/$file"
}

# with_cargo NAME FOLDER CRATES: the folder FOLDER of the crate NAME, by the Cargo.toml in CRATES.
with_cargo() {
    pinned "$1"
    dir=$src/$file
    if [ ! -d "$dir" ]; then
        command -v cargo >/dev/null || die "fetching $1 needs cargo; or put the folder $2 of the crate $1 ${file#"$1-"} into $dir"
        echo "fetching $1"
        tmp=$(mktemp -d "$src/fetch.XXXXXX")
        cargo vendor --locked --quiet --manifest-path "$here/$3/Cargo.toml" "$tmp/vendor" >/dev/null ||
            die "cargo could not fetch $1 as pinned in $3/Cargo.lock; without a network put its folder $2 into $dir"
        got=$(tree_sum "$tmp/vendor/$1/$2")
        check "$1" "$got" "the folder $2 of $1"
        if [ ! -d "$dir" ]; then mv "$tmp/vendor/$1/$2" "$dir"; fi
        rm -rf "$tmp"
        tmp=
    fi
    if [ -n "$into" ]; then
        cp -RP "$dir" "$into/$2"
        tree=$into/$2
    else
        tree=$dir
    fi
    got=$(tree_sum "$tree")
    check "$1" "$got" "$dir"
}

with_crates() {
    dir=$src/clarabel-0.11.1
    if [ ! -d "$dir" ]; then
        command -v cargo >/dev/null || die "fetching clarabel needs cargo; or put the folder that cargo vendor makes of clarabel/Cargo.toml into $dir"
        echo "fetching clarabel"
        tmp=$(mktemp -d "$src/fetch.XXXXXX")
        cargo vendor --locked --quiet --manifest-path "$here/clarabel/Cargo.toml" "$tmp/vendor" >/dev/null ||
            die "cargo could not fetch the crates of clarabel/Cargo.lock; without a network put the folder that cargo vendor makes of clarabel/Cargo.toml into $dir"
        if [ ! -d "$dir" ]; then mv "$tmp/vendor" "$dir"; fi
        rm -rf "$tmp"
        tmp=
    fi
    plain "$dir"
}

into=
if [ "${1:-}" = -d ]; then
    into=$2
    shift 2
fi
mkdir -p "$src" 2>/dev/null || die "cannot write to $src; in a folder that is read-only, as Go's module cache is, give another one: make deps DEPS=DIR"
for name in "$@"; do
    case $name in
    scs | qdldl) with_pip "$name" --no-binary=:all: --no-build-isolation ;;
    openblas) with_pip openblas --only-binary=:all: ;;
    osqp-sys) with_cargo osqp-sys osqp crates ;;
    highs-sys) with_cargo highs-sys HiGHS crates/highs ;;
    clarabel) with_crates ;;
    *) die "unknown source $name" ;;
    esac
done
