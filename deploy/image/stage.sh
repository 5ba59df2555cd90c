#!/usr/bin/env bash
# Lays out deploy/target/images/<image>/{Containerfile,entrypoint,root/}: all that an image holds, for `partita images`, docker, podman,
# buildah or `kube-lab image`. Works on what is already packaged; the Java runtime is made once a JDK and module list.
# $PARTITA_IMAGES is another folder to lay out in; $PARTITA_PROCESSOR is another processor, which needs $PARTITA_HOOK_DIST as well.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
images=${PARTITA_IMAGES:-$root/deploy/target/images}
hook=${PARTITA_HOOK_DIST:-$root/hook-lib/target/dist} # a release build: hook-lib/target/dist-release/<processor>-gnu
jdk=$(sh "$root/build/find-jdk.sh")

version=$(sh "$root/build/version.sh")

. "$root/deploy/image/runtime.sh"
rm -f "$images/.stamp" # until all is laid out

# begin NAME: an empty staging folder; sets $stage
begin() {
  stage=$images/$1
  rm -rf "$stage"
  mkdir -p "$stage/root/usr/lib/partita"
  cp "$root/deploy/image/$1/Containerfile" "$stage/"
  sed -n 's/^ENTRYPOINT //p' "$stage/Containerfile" > "$stage/entrypoint"
}

# java_image NAME MAIN-CLASS OPTION...: the runtime, the module's jars and the options to start it with. Of the runtime's two archives of
# classes only the one for these options' object headers.
java_image() {
  local name=$1 main=$2
  shift 2
  begin "$name"
  local app=$stage/root/usr/lib/partita jar classpath=
  cp -al "$runtime" "$app/runtime" 2>/dev/null || { rm -rf "$app/runtime"; cp -a "$runtime" "$app/runtime"; } # it has made the folders
  case " $* " in
    *" -XX:+UseCompactObjectHeaders "*) rm -f "$app/runtime/lib/server/classes.jsa" ;;
    *) rm -f "$app/runtime/lib/server/classes_coh.jsa" ;;
  esac
  mkdir -p "$app/app"
  tr ':' '\n' < "$root/$name/target/runtime.classpath" | xargs -r -d '\n' cp -t "$app/app"
  cp "$root/$name/target/$name-$version.jar" "$app/app/"
  [ ! -e "$root/$name/target/bom.json" ] || cp "$root/$name/target/bom.json" "$stage/" # what Maven knows of the jars
  for jar in "$app"/app/*.jar; do # in order, one by one: a cache (below) holds for one order of them, and app/* comes as the folder has it
    classpath=$classpath:/usr/lib/partita/app/${jar##*/}
  done
  local jna; jna=$(find "$app/app" -name 'jna-5*.jar')
  if [ -n "$jna" ]; then # taken out of its jar here, so that nothing has to be written and executed in the container
    (cd "$app" && "$jdk/bin/jar" xf "$jna" com/sun/jna/linux-x86-64/libjnidispatch.so com/sun/jna/linux-aarch64/libjnidispatch.so)
    mkdir -p "$app/native"
    cp "$app/com/sun/jna/linux-${machine/_/-}/libjnidispatch.so" "$app/native/"
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
${classpath#:}
$main
A
}

# Makes the plugin's AOT cache by a rehearsal of what it does, or takes the one that was made of the same files. Without a cache the
# plugin starts all the same, later.
rehearse() {
  local plugin=$stage/root/usr/lib/partita key made
  find "$plugin" -exec touch -h -d @0 {} + # a cache holds for jars of one time; tools that build images keep a file's, or set this one
  key=$(cat "$plugin/java.args" "$runtime/release" "$plugin"/app/*.jar "$root"/deploy/image/kubelet-plugin/*.java | sha256sum | cut -c1-16)
  made=$root/deploy/target/plugin-$key.aot
  if [ ! -e "$made" ]; then
    rm -f "$root"/deploy/target/plugin-*.aot
    "$jdk/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -cp "$plugin/app/*" "$root/deploy/image/kubelet-plugin/Rehearsal.java" \
      rehearse "$plugin" "$root/hook-lib/target/dist"
    mv "$plugin/plugin.aot" "$made"
  fi
  cp -a "$made" "$plugin/plugin.aot"
}

runtime
# A cache can only be made by the processor that it is for.
cache=()
[ ! "$is_native" ] || cache=(-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -XX:AOTCache=/usr/lib/partita/plugin.aot)
# The first compiler alone: the second one takes a processor for minutes after every start, just when many pods may wait.
# The controller's caches grow with the cluster: its container's memory limit decides, and how to collect follows from that.
# Of the chart's 512 MiB the heap gets 327, of which a seventh is for what is young; all else adds up to 160 (MemoryBench).
java_image dra-controller dev.partita.controller.Main \
  -XX:TieredStopAtLevel=1 -XX:MaxRAMPercentage=64 -XX:NewRatio=6 -XX:+UseCompactObjectHeaders \
  -XX:MaxMetaspaceSize=96m -XX:ReservedCodeCacheSize=40m -XX:MaxDirectMemorySize=24m -XX:TrimNativeHeapInterval=60000

# The plugin: heap, metaspace, direct memory and code add up to less than its container's limit, 384 MiB
# in the chart. The heap stays near what is alive (MinHeapFreeRatio; one collection gives all back), and what malloc kept is given back now and then (TrimNativeHeap…).
# gRPC's buffers come in pieces of 32 KiB, in the place of 2 MiB for each of two threads: kubelet's calls are a few hundred bytes.
# The cache is mapped where it was made for, or else each start would write to all of its pages.
# Code is compiled after three tenths of the calls that the JVM waits for: a node prepares few claims, and a preparation, an idle minute
# and a scrape take up to twice as long in code that is interpreted. After a tenth a start takes half as much processor time again, for nothing.
java_image kubelet-plugin dev.partita.plugin.Main \
  -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
  -Xms12m -Xmx96m -Xmn4m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=15 -XX:-ShrinkHeapInSteps \
  -XX:MaxMetaspaceSize=96m -XX:MaxDirectMemorySize=32m -XX:ReservedCodeCacheSize=32m \
  -XX:TrimNativeHeapInterval=30000 -XX:CompileThresholdScaling=0.3 \
  -Dio.grpc.netty.shaded.io.netty.allocator.maxOrder=2 \
  ${cache[@]+"${cache[@]}"}
mkdir -p "$stage/root/usr/lib/partita/hook"
cp "$hook"/lib/* "$stage/root/usr/lib/partita/hook/"
"$jdk/bin/java" "$root/deploy/image/NewerClassFiles.java" "$stage"/root/usr/lib/partita/app/picocli-*.jar
[ ! "$is_native" ] || rehearse

begin simulator
mkdir -p "$stage/root/usr/lib/partita/bin"
cp "$hook/bin/partita-sim-driver" "$stage/root/usr/lib/partita/bin/"
cp -r "$hook/simulator" "$stage/root/usr/lib/partita/"

begin probe
mkdir -p "$stage/root/usr/bin"
cp "$hook/bin/partita-probe" "$stage/root/usr/bin/"
chmod -R u=rwX,go=rX "$images"/*/root # users in containers read it, whatever umask this ran with
touch "$images/.stamp"
