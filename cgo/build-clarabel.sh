#!/bin/sh
# build-clarabel.sh OUT
#
# Builds Clarabel and our C interface to it (clarabel/) into OUT/lib/libconetune_clarabel.a,
# one object in which only the functions of clarabel.symbols are visible, so that its copy
# of Rust's standard library cannot meet another. The header goes to OUT/include/clarabel,
# licences to OUT/licenses. Its BLAS is that of build-scs.sh, which comes first.
#
#   DEPS_SRC   folder of the pinned sources, build/src beside this script if unset
set -eu
here=$(cd "$(dirname "$0")" && pwd)
die() {
    echo "cgo/build-clarabel.sh: $*" >&2
    exit 1
}

mkdir -p "$1/lib" "$1/include" "$1/licenses" 2>/dev/null || die "cannot write to $1; in a folder that is read-only, as Go's module cache is, give another one: make deps DEPS=DIR"
out=$(cd "$1" && pwd)
# One build at a time in this folder.
if command -v flock >/dev/null; then
    exec 9>"$out/.lock-clarabel"
    flock 9
fi
work=$(mktemp -d "$out/clarabel.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for tool in cargo ar ld readelf objcopy; do
    command -v $tool >/dev/null || die "needs $tool (cargo and GNU binutils)"
done
[ -f "$out/lib/libconetune_blas.so" ] || die "$out has no BLAS yet: build-scs.sh comes first"

sh "$here/fetch.sh" clarabel
vendor=$(cd "${DEPS_SRC:-$here/build/src}" && pwd)/clarabel-0.11.1
mkdir "$work/crate"
cp -R "$here"/clarabel/Cargo.* "$here/clarabel/src" "$work/crate/"
chmod -R u+w "$work/crate"
# cargo checks each file of a crate against its sums, and those against Cargo.lock.
mkdir "$work/crate/.cargo"
printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s"\n' "$vendor" >"$work/crate/.cargo/config.toml"
(cd "$work/crate" && CARGO_ENCODED_RUSTFLAGS= RUSTFLAGS= cargo build --release --offline --locked --target-dir "$work/target") >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "Clarabel did not compile"
}

symbols=$(sed 's/^/-u /' "$here/clarabel.symbols" | tr '\n' ' ')
# shellcheck disable=SC2086
ld -r --gc-sections $symbols "$work/target/release/libconetune_clarabel.a" -o "$work/all.o"
: >"$work/blas.map"
if [ -f "$out/lib/libscipy_openblas.so" ]; then
    readelf -W --dyn-syms "$out/lib/libscipy_openblas.so" | awk '$7 != "UND" {print $8}' | sed -n 's/^scipy_\([a-z0-9_]*\)$/\1/p' | sort >"$work/blas.names"
    readelf -Ws "$work/all.o" | awk '$7 == "UND" {print $8}' | sort | comm -12 - "$work/blas.names" | sed 's/\(.*\)/\1 scipy_\1/' >"$work/blas.map"
fi
objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd --redefine-syms="$work/blas.map" --keep-global-symbols="$here/clarabel.symbols" "$work/all.o" "$work/conetune_clarabel.o"
ar rcs "$work/libconetune_clarabel.a" "$work/conetune_clarabel.o"

# The licences: Clarabel's, and those of the crates in it, each text once.
cp "$vendor/clarabel/LICENSE.md" "$work/Clarabel.txt"
(cd "$work/crate" && cargo tree --offline --locked --edges normal --prefix none --no-dedupe --format '{p}|{l}') |
    sed -e 's/ (proc-macro)//' -e 's/ ([^)]*)|/|/' | grep -v '^conetune_clarabel \|^clarabel ' | LC_ALL=C sort -u >"$work/crates"
seen=
{
    echo "Rust's standard library, of the compiler: MIT or Apache-2.0, The Rust Project Contributors."
    echo "The crates in the library, and their licences; where there is a choice, it is the text below."
    echo
    sed 's/|/: /' "$work/crates"
    while IFS='|' read -r crate license; do
        name=${crate% v*}
        dir=$vendor/$name
        grep -q "^version = \"${crate##* v}\"" "$dir/Cargo.toml" 2>/dev/null || dir=$vendor/$name-${crate##* v}
        [ -d "$dir" ] || die "no sources of $crate"
        texts=$(find "$dir" -maxdepth 1 -type f -iname '*license*mit*' | LC_ALL=C sort)
        [ -n "$texts" ] || texts=$(find "$dir" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'unlicense*' \) | LC_ALL=C sort)
        for text in $texts; do
            sum=$(tr -d '[:space:]' <"$text" | cksum)
            case " $seen " in *" $sum "*) continue ;; esac
            seen="$seen $sum "
            printf '\n--- %s, %s\n\n' "$crate" "$(basename "$text")"
            cat "$text"
        done
    done <"$work/crates"
} >"$work/Clarabel-crates.txt"

mkdir "$work/include"
cp "$here/clarabel/conetune_clarabel.h" "$work/include/"
rm -rf "$out/include/clarabel"
mv "$work/include" "$out/include/clarabel"
mv -f "$work/Clarabel.txt" "$work/Clarabel-crates.txt" "$out/licenses/"
mv -f "$work/libconetune_clarabel.a" "$out/lib/"
# Go does not look at headers and libraries outside of a package: this file in the
# package, which nothing includes, makes it compile and link anew.
sum=$(cat "$out"/include/clarabel/*.h "$out/lib/libconetune_clarabel.a" | cksum)
case $out in
"$here/build") echo "/* make deps: $sum */" >"$here/../internal/cgo/clarabel/built.h" ;;
"$here/build/asan") echo "/* make asan: $sum */" >"$here/../internal/cgo/clarabel/built_asan.h" ;;
esac
echo "built $out/lib/libconetune_clarabel.a"
