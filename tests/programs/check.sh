#!/bin/sh
# Builds programs nobody here wrote through `deadheat cc` and `deadheat c++`, runs them for their real job under
# `deadheat run`, with and without --predict, and compares what they print. imagequant is a program of OpenMP. Races that known.txt explains are expected;
# any other fails. Prediction is about the first gigabyte of what they do.
#   check.sh DEADHEAT [PROGRAM…]      (zstd sqlite uv leveldb imagequant; all unless named)
set -eu
deadheat=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
room=${DEADHEAT_PROGRAMS_DIR:-$here/../../target/programs}
mkdir -p "$room"
room=$(realpath "$room")
programs=${*:-zstd sqlite uv leveldb imagequant}
if ! (cd "$here" && cargo fetch --quiet); then
  echo "skipped: the sources could not be fetched (is there a network?)"
  exit 0
fi
source_of() {
  (cd "$here" && cargo metadata --format-version 1 --offline) | tr '{' '\n' |
    sed -n "s|.*\"manifest_path\":\"\([^\"]*/$1-[0-9][^/\"]*\)/Cargo.toml\".*|\1|p" | head -n 1
}
cc() { "$deadheat" cc -O1 -g -pthread "$@"; }

build_zstd() {
  zstd=$(source_of zstd-sys)/zstd/lib
  cc -DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -I"$zstd" "$here/zstd.c" "$zstd"/common/*.c "$zstd"/compress/*.c \
    "$zstd"/decompress/*.c -o "$room/zstd"
}
build_sqlite() {
  sqlite=$(source_of libsqlite3-sys)/sqlite3
  cc -DSQLITE_THREADSAFE=2 -I"$sqlite" "$here/sqlite.c" "$sqlite/sqlite3.c" -ldl -lm -o "$room/sqlite"
}
cmake_build() {
  CC="$deadheat cc" CXX="$deadheat c++" cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g" -DBUILD_TESTING=OFF -DLIBUV_BUILD_TESTS=OFF -DLEVELDB_BUILD_TESTS=OFF \
    -DLEVELDB_BUILD_BENCHMARKS=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 >"$2.log" 2>&1 &&
    cmake --build "$2" -j "$(nproc)" >>"$2.log" 2>&1 || { tail -n 20 "$2.log"; return 1; }
}
build_uv() {
  uv=$(source_of libuv-sys2)/libuv
  cmake_build "$uv" "$room/uv-build"
  cc -I"$uv/include" "$here/uv.c" "$room/uv-build/libuv.a" -ldl -lrt -o "$room/uv"
}
build_leveldb() {
  leveldb=$(source_of leveldb-sys)/deps/leveldb-1.22
  cmake_build "$leveldb" "$room/leveldb-build"
  "$deadheat" c++ -std=c++17 -O1 -g -pthread -I"$leveldb/include" "$here/leveldb.cpp" "$room/leveldb-build/libleveldb.a" \
    -o "$room/leveldb"
}
build_imagequant() {
  imagequant=$(source_of imagequant-sys)
  cc -fopenmp -I"$imagequant" "$here/imagequant.c" "$imagequant"/[!e]*.c -lm -o "$room/imagequant"
}
arguments_of() {
  case $1 in
    sqlite) echo "$room/sqlite.db" ;;
    leveldb) echo "$room/leveldb.db" ;;
  esac
}

failed=0
for name in $programs; do
  echo "== $name"
  case $name in
    uv | leveldb) command -v cmake >/dev/null || { echo "skipped: cmake is not installed"; continue; } ;;
  esac
  "build_$name"
  for options in "" "--predict --limit 1G"; do
    # What OpenMP orders is not recorded yet.
    [ "$name$options" = "imagequant--predict --limit 1G" ] && continue
    status=0
    # shellcheck disable=SC2046,SC2086
    "$deadheat" run $options --suppress "$here/known.txt" --json="$room/$name.json" -- "$room/$name" $(arguments_of "$name") \
      >"$room/$name.out" 2>"$room/$name.err" || status=$?
    if [ "$status" -ne 0 ] || ! cmp -s "$room/$name.out" "$here/$name.expected"; then
      echo "status $status, printed:"
      cat "$room/$name.out" "$room/$name.err"
      failed=1
    else
      tail -n 1 "$room/$name.err"
    fi
  done
done
exit $failed
