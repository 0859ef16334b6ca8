#!/bin/sh
# Fetches and builds one program that nobody here wrote. Sources come from packages of crates.io that carry them (Cargo.toml), or from
# Debian's source packages; none of them are kept in this repository.
#   build.sh NAME DIRECTORY      (the program is DIRECTORY/NAME; the directory is made anew)
# CC and CXX are the compilers, with options if need be, and CFLAGS the flags of both. DEADHEAT_PROGRAMS_DIR keeps what was fetched.
# The status is 75 if the sources or a tool cannot be had.
set -eu
name=$1
here=$(dirname "$(realpath "$0")")
room=${DEADHEAT_PROGRAMS_DIR:-$here/../../target/programs}
mkdir -p "$room"
room=$(realpath "$room")
rm -rf "$2"
mkdir -p "$2"
out=$(realpath "$2")
flags=${CFLAGS:--O1 -g}

skip() {
  echo "skipped: $1"
  exit 75
}
need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
  done
}
quietly() { "$@" >>"$out/log" 2>&1 || { tail -n 20 "$out/log"; return 1; }; }
# shellcheck disable=SC2086
cc() { $CC $flags -pthread "$@"; }
# shellcheck disable=SC2086
cxx() { $CXX $flags -pthread "$@"; }

of_crate() {
  (cd "$here" && cargo fetch --quiet) || skip "the sources could not be fetched (is there a network?)"
  source=$(cd "$here" && cargo metadata --format-version 1 --offline | tr '{' '\n' |
    sed -n "s|.*\"manifest_path\":\"\([^\"]*/$1-[0-9][^/\"]*\)/Cargo.toml\".*|\1|p" | head -n 1)
}

# The suites are named, so that the same versions are built everywhere. Nothing of the system's own apt is touched.
of_debian() {
  need apt-get dpkg-source
  debian=$room/debian
  mkdir -p "$debian/lists/partial" "$debian/archives/partial"
  for suite in trixie bookworm; do
    echo "deb-src http://deb.debian.org/debian $suite main"
  done >"$debian/sources.list"
  cat >"$debian/apt.conf" <<END
Dir::Etc::sourcelist "$debian/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$debian/lists";
Dir::State::status "/dev/null";
Dir::Cache "$debian";
APT::Sandbox::User "";
END
  package=${1%/*}
  unpacked() { find "$debian" -maxdepth 1 -type d -name "$package-[0-9]*"; }
  if [ -z "$(unpacked)" ]; then
    ls "$debian"/lists/*Sources* >/dev/null 2>&1 || APT_CONFIG=$debian/apt.conf quietly apt-get update || skip "no lists of Debian's packages"
    (cd "$debian" && APT_CONFIG=$debian/apt.conf quietly apt-get source "$1") || skip "Debian's $package could not be fetched"
  fi
  source=$(unpacked)
}
# What builds in its own directory does so in a copy.
copy() {
  cp -a "$source" "$out/$1"
  source=$out/$1
}

cmake_build() {
  need cmake
  CC=$CC CXX=$CXX quietly cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="$flags" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$flags" -DBUILD_TESTING=OFF -DLIBUV_BUILD_TESTS=OFF -DLEVELDB_BUILD_TESTS=OFF \
    -DLEVELDB_BUILD_BENCHMARKS=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5
  quietly cmake --build "$2" -j "$(nproc)"
}

build_zstd() {
  of_crate zstd-sys
  source=$source/zstd/lib
  cc -DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -I"$source" "$here/zstd.c" "$source"/common/*.c "$source"/compress/*.c \
    "$source"/decompress/*.c -o "$out/zstd"
}
build_sqlite() {
  of_crate libsqlite3-sys
  source=$source/sqlite3
  cc -DSQLITE_THREADSAFE=2 -I"$source" "$here/sqlite.c" "$source/sqlite3.c" -ldl -lm -o "$out/sqlite"
}
build_uv() {
  of_crate libuv-sys2
  source=$source/libuv
  cmake_build "$source" "$out/build"
  cc -I"$source/include" "$here/uv.c" "$out/build/libuv.a" -ldl -lrt -o "$out/uv"
}
build_leveldb() {
  of_crate leveldb-sys
  source=$source/deps/leveldb-1.22
  cmake_build "$source" "$out/build"
  cxx -std=c++17 -I"$source/include" "$here/leveldb.cpp" "$out/build/libleveldb.a" -o "$out/leveldb"
}
build_imagequant() {
  of_crate imagequant-sys
  cc -fopenmp -I"$source" "$here/imagequant.c" "$source"/[!e]*.c -lm -o "$out/imagequant"
}
build_lz4() {
  of_debian lz4/trixie
  cc -DLZ4IO_MULTITHREAD -DXXH_NAMESPACE=LZ4_ -I"$source/lib" "$source"/lib/*.c "$source"/programs/*.c -o "$out/lz4"
}
build_pigz() {
  of_debian zlib/trixie
  zlib=$source
  of_debian pigz/trixie
  cc -w -DZ_HAVE_UNISTD_H -I"$zlib" "$source/pigz.c" "$source/yarn.c" "$source/try.c" "$source"/zopfli/src/zopfli/*.c "$zlib"/*.c -lm -o "$out/pigz"
}
build_pbzip2() {
  of_debian bzip2/trixie
  for part in blocksort huffman crctable randtable compress decompress bzlib; do
    cc -w -I"$source" -c "$source/$part.c" -o "$out/$part.o"
  done
  bzip2=$source
  of_debian pbzip2/trixie
  cxx -w -std=gnu++03 -D_FILE_OFFSET_BITS=64 -DUSE_STACKSIZE_CUSTOMIZATION -I"$bzip2" "$source"/*.cpp "$out"/*.o -o "$out/pbzip2"
}
# Debian's patches touch what autotools make files from; those that come with the sources do.
unprepared_make() { make -j "$(nproc)" AUTOMAKE=: AUTOCONF=: ACLOCAL=: AUTOHEADER=: "$@"; }
build_memcached() {
  need make
  of_debian libevent/trixie
  copy libevent
  (cd "$source" && CC=$CC CFLAGS=$flags quietly ./configure --disable-openssl --disable-shared --disable-samples \
    --disable-libevent-regress --prefix="$out/event" && quietly unprepared_make install)
  of_debian memcached/trixie
  copy source
  (cd "$source" && CC=$CC CFLAGS="$flags -pthread" quietly ./configure --with-libevent="$out/event" && quietly unprepared_make memcached)
  cp "$source/memcached" "$out"
}
build_redis() {
  need make pkg-config
  of_debian redis/trixie
  copy source
  quietly make -C "$source/src" -j "$(nproc)" CC="$CC" CXX="$CXX" MALLOC=libc OPTIMIZATION= DEBUG= REDIS_CFLAGS="$flags" BUILD_TLS=no USE_SYSTEMD=no \
    redis-server redis-benchmark
  cp "$source/src/redis-server" "$out/redis"
  cp "$source/src/redis-benchmark" "$out"
}
# Its assembly is left out: no compiler instruments that.
build_x264() {
  need make
  of_debian x264/bookworm
  copy source
  (cd "$source" && CC=$CC quietly ./configure --disable-asm --disable-opencl --disable-avs --disable-swscale --disable-lavf --disable-ffms \
    --disable-gpac --disable-lsmash --extra-cflags="$flags" && quietly make -j "$(nproc)" x264)
  cp "$source/x264" "$out"
}

"build_$name"
