#!/usr/bin/env bash
# Lays out deploy/target/images/<image>/{Containerfile,entrypoint,root/}: all that an image holds, for docker, podman, buildah or
# `kube-lab image`. Works on what is already packaged; the Java runtime is made once a JDK and module list.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
images=$root/deploy/target/images
hook=${PARTITA_HOOK_DIST:-$root/hook-lib/target/dist} # a release build: hook-lib/target/dist-release/<processor>-gnu
jdk=$(sh "$root/build/find-jdk.sh")

runtime() {
  local modules key
  modules=$(paste -sd, "$root/deploy/image/java.modules")
  key=$(cat "$jdk/release" <(echo "$modules") | sha256sum | cut -c1-16)
  runtime=$root/deploy/target/runtime-$key
  [ -e "$runtime/release" ] && return
  rm -rf "$root"/deploy/target/runtime-*
  "$jdk/bin/jlink" --add-modules "$modules" --strip-debug --no-man-pages --no-header-files --generate-cds-archive --output "$runtime.part" >/dev/null
  rm -f "$runtime.part"/lib/server/classes_nocoops*.jsa # for heaps beyond 32 GiB
  mv "$runtime.part" "$runtime"
}

# begin NAME: an empty staging folder; sets $stage
begin() {
  stage=$images/$1
  rm -rf "$stage"
  mkdir -p "$stage/root/usr/lib/partita"
  cp "$root/deploy/image/$1/Containerfile" "$stage/"
  sed -n 's/^ENTRYPOINT //p' "$stage/Containerfile" > "$stage/entrypoint"
}

# java_image NAME MAIN-CLASS OPTION...: the runtime, the module's jars and the options to start it with
java_image() {
  local name=$1 main=$2
  shift 2
  begin "$name"
  local app=$stage/root/usr/lib/partita
  cp -al "$runtime" "$app/runtime" 2>/dev/null || cp -a "$runtime" "$app/runtime"
  mkdir -p "$app/app"
  tr ':' '\n' < "$root/$name/target/runtime.classpath" | xargs -r -d '\n' cp -t "$app/app"
  cp "$root/$name/target/$name"-*.jar "$app/app/"
  local jna; jna=$(find "$app/app" -name 'jna-5*.jar')
  if [ -n "$jna" ]; then # taken out of its jar here, so that nothing has to be written and executed in the container
    (cd "$app" && "$jdk/bin/jar" xf "$jna" com/sun/jna/linux-x86-64/libjnidispatch.so com/sun/jna/linux-aarch64/libjnidispatch.so)
    mkdir -p "$app/native"
    cp "$app/com/sun/jna/linux-$(uname -m | tr _ -)/libjnidispatch.so" "$app/native/"
    rm -rf "$app/com"
  fi
  cat > "$app/java.args" <<A
$(printf '%s\n' "$@")
-XX:+ExitOnOutOfMemoryError
-Xss512k
--enable-native-access=ALL-UNNAMED
--sun-misc-unsafe-memory-access=allow
-Djna.boot.library.path=/usr/lib/partita/native
-Djna.nounpack=true
-cp
/usr/lib/partita/app/*
$main
A
}

runtime
# The first compiler alone: the second one takes a processor for minutes after every start, just when many pods may wait.
# The controller's caches grow with the cluster: its container's memory limit decides, and how to collect follows from that.
java_image dra-controller dev.partita.controller.Main -XX:TieredStopAtLevel=1 -XX:MaxRAMPercentage=60
java_image kubelet-plugin dev.partita.plugin.Main -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m
mkdir -p "$stage/root/usr/lib/partita/hook"
cp "$hook"/lib/* "$stage/root/usr/lib/partita/hook/"

begin simulator
mkdir -p "$stage/root/usr/lib/partita/bin"
cp "$hook/bin/partita-sim-driver" "$stage/root/usr/lib/partita/bin/"
cp -r "$hook/simulator" "$stage/root/usr/lib/partita/"

begin probe
mkdir -p "$stage/root/usr/bin"
cp "$hook/bin/partita-probe" "$stage/root/usr/bin/"
touch "$images/.stamp"
