#!/bin/bash
# Makes a toolchain that Buildroot accepts out of Debian's cross compiler for ARM: one folder with the compiler and a
# sysroot of its own. usage: toolchain.sh TRIPLET OUT
set -eu
triplet=$1 out=$2
[ ! -e "$out/complete" ] || exit 0
rm -rf "$out"
mkdir -p "$out"/{bin,lib,"$triplet/bin"} "$out"/sysroot/{lib,usr/lib,usr/include}

cp -a /usr/lib/gcc-cross "$out/lib/"
cp -a "/usr/$triplet/include/." "$out/sysroot/usr/include/"
cp -a "/usr/$triplet/lib/." "$out/sysroot/lib/"
for f in "$out"/sysroot/lib/{*.o,*.a,libc.so}; do [ ! -e "$f" ] || mv "$f" "$out/sysroot/usr/lib/"; done
for f in "$out"/sysroot/lib/lib*.so; do [ ! -L "$f" ] || ln -sf "../../lib/$(readlink "$f")" "$out/sysroot/usr/lib/${f##*/}"; done
# The linker script names Debian's folders.
sed -i "s|/usr/$triplet/lib/\([a-z0-9_-]*\.a\)|/usr/lib/\1|g; s|/usr/$triplet/lib/|/lib/|g" "$out/sysroot/usr/lib/libc.so"

for tool in /usr/bin/"$triplet"-*; do
  name=${tool##*/"$triplet"-}
  case $name in
  gcc-12 | cpp-12)
    cp -L "$tool" "$out/bin/$triplet-$name.real"
    # Buildroot refuses what says that it was configured for the distribution's own root.
    cat >"$out/bin/$triplet-${name%-12}" <<WRAPPER
#!/bin/sh
here=\${0%/*}
case " \$* " in *" -v "*) "\$here/$triplet-$name.real" --sysroot="\$here/../sysroot" "\$@" 2>&1 | sed 's| --with-sysroot=[^ ]*||' >&2; exit ;; esac
case " \$* " in *" --sysroot="*) exec "\$here/$triplet-$name.real" "\$@" ;; esac
exec "\$here/$triplet-$name.real" --sysroot="\$here/../sysroot" "\$@"
WRAPPER
    chmod +x "$out/bin/$triplet-${name%-12}"
    ;;
  g++-12 | gcov* | gprof) ;; # no C++: nothing in the image is written in it
  *-12) cp -L "$tool" "$out/bin/$triplet-${name%-12}" ;;
  gcc | g++ | cpp | c++* | g++*) ;;
  *) cp -L "$tool" "$out/bin/$triplet-$name" ;;
  esac
done
for name in ar as ld ld.bfd nm objcopy objdump ranlib readelf strip; do ln -sf "../../bin/$triplet-$name" "$out/$triplet/bin/$name"; done
touch "$out/complete"
