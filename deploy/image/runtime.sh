# The Java runtime that images and the command's archive hold, made once a JDK and module list. Sourced, with $root and $jdk set; sets $runtime.
runtime() {
  local modules key
  modules=$(paste -sd, "$root/deploy/image/java.modules")
  key=$(cat "$jdk/release" <(echo "$modules compact-headers") | sha256sum | cut -c1-16)
  runtime=$root/deploy/target/runtime-$key
  [ -e "$runtime/release" ] && return
  rm -rf "$root"/deploy/target/runtime-*
  "$jdk/bin/jlink" --add-modules "$modules" --strip-debug --no-man-pages --no-header-files --generate-cds-archive --output "$runtime.part" >/dev/null
  "$runtime.part/bin/java" -XX:+UseCompactObjectHeaders -Xshare:dump >/dev/null # jlink makes the archive for ordinary headers only
  rm -f "$runtime.part"/lib/server/classes_nocoops*.jsa # for heaps beyond 32 GiB
  mv "$runtime.part" "$runtime"
}
