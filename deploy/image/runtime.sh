# The Java runtime that images and the command's archive hold, made once a JDK and module list. Sourced, with $root and $jdk set.
# $PARTITA_PROCESSOR (amd64 or arm64) names the processor; without it, this machine's. For another one, $PARTITA_JDK_<PROCESSOR>, such as
# $PARTITA_JDK_ARM64, is the folder of a JDK of that processor and of this machine's version, of which only the modules are read.
# Sets $processor, $machine (its name as `uname -m` says it) and $is_native.
case "$(uname -m)" in x86_64) native=amd64 ;; aarch64) native=arm64 ;; *) native=$(uname -m) ;; esac
processor=${PARTITA_PROCESSOR:-$native}
case "$processor" in
  amd64) machine=x86_64 ;;
  arm64) machine=aarch64 ;;
  *) echo "partita: no images are made for the processor $processor, only for amd64 and arm64" >&2; exit 1 ;;
esac
is_native=$([ "$processor" = "$native" ] && echo yes || true)

# Sets $runtime.
runtime() {
  local modules key from=$jdk link
  modules=$(paste -sd, "$root/deploy/image/java.modules")
  if [ ! "$is_native" ]; then
    local variable=PARTITA_JDK_${processor^^}
    from=${!variable:-}
    [ -d "$from/jmods" ] && grep -qx "OS_ARCH=\"$machine\"" "$from/release" || {
      echo "partita: a Java runtime for $processor needs the modules of a JDK for it: set $variable to the folder of one for $machine, with jmods/" >&2
      exit 1
    }
  fi
  key=$(cat "$jdk/release" "$from/release" <(echo "$modules compact-headers") | sha256sum | cut -c1-16)
  runtime=$root/deploy/target/runtime-$processor-$key
  [ -e "$runtime/release" ] && return
  rm -rf "$root/deploy/target/runtime-$processor"-*
  link=("$jdk/bin/jlink" --add-modules "$modules" --no-man-pages --no-header-files --output "$runtime.part")
  if [ "$is_native" ]; then
    "${link[@]}" --strip-debug --generate-cds-archive >/dev/null
    "$runtime.part/bin/java" -XX:+UseCompactObjectHeaders -Xshare:dump >/dev/null # jlink makes the archive for ordinary headers only
    rm -f "$runtime.part"/lib/server/classes_nocoops*.jsa # for heaps beyond 32 GiB
  else # without archives of classes: the runtime would have to run to make them
    "${link[@]}" --module-path "$from/jmods" --strip-java-debug-attributes >/dev/null
    find "$runtime.part" -name '*.debuginfo' -delete # the symbols that Debian's modules have, of 600 MB
  fi
  mv "$runtime.part" "$runtime"
}
