#!/usr/bin/env bash
# Makes deploy/target/partita-VERSION-linux-PROCESSOR.tar.gz: the command line with a Java runtime of its own and an AOT cache, for machines
# without a JDK. Works on what is already packaged. For another processor (runtime.sh) without the cache: it can only be made by its own.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
jdk=$(sh "$root/build/find-jdk.sh")
. "$root/deploy/image/runtime.sh"
runtime

version=$(sh "$root/build/version.sh")
name=partita-$version-linux-$processor
stage=$root/deploy/target/command/partita
rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/lib/app"
cp -a "$runtime" "$stage/lib/runtime"
rm -f "$stage/lib/runtime/lib/server"/classes*.jsa # the JVM reads none beside a cache of the program's own
# What the controller needs, the other commands need; `demo`, `cluster`, `images` and `release` take more, and a checkout in any case.
# No command issues certificates, for which the controller has Bouncy Castle.
tr ':' '\n' < "$root/dra-controller/target/runtime.classpath" | grep -v '/bc[a-z]*-jdk18on-' | xargs -r -d '\n' cp -p -t "$stage/lib/app"
cp -p "$root/dra-controller/target/dra-controller-$version.jar" "$root/cli/target/cli-$version.jar" "$stage/lib/app/"
"$jdk/bin/java" "$root/deploy/image/NewerClassFiles.java" "$stage"/lib/app/picocli-*.jar
"$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$root/deploy/command/SmallerJars.java" "$stage"/lib/app/*.jar
(cd "$stage/lib/app" && ls ./*.jar | paste -sd:) > "$stage/lib/classpath"
cp "$root/deploy/command/partita" "$root/LICENSE" "$stage/bin/"
mv "$stage/bin/LICENSE" "$stage/"
ln -s partita "$stage/bin/kubectl-partita"
cp "$root/kubectl_complete-partita" "$stage/bin/"
find "$stage" -exec touch -h -d @0 {} + # the cache holds for jars of one time
if [ "$is_native" ]; then # or the cache that was made of the same files
  key=$(cat "$stage/bin/partita" "$runtime/release" "$stage"/lib/app/*.jar "$root/deploy/command/Rehearsal.java" | sha256sum | cut -c1-16)
  made=$root/deploy/target/command-$key.aot
  if [ ! -e "$made" ]; then
    rm -f "$root"/deploy/target/command-*.aot
    "$jdk/bin/java" "$root/deploy/command/Rehearsal.java" "$stage/bin/partita" "$stage/lib/partita.aot"
    mv "$stage/lib/partita.aot" "$made"
  fi
  cp -a "$made" "$stage/lib/partita.aot"
fi

archive=$root/deploy/target/$name.tar.gz
# krew unpacks files and folders alone.
tar -C "$stage/.." --sort=name --owner=0 --group=0 --mode=u+rw,go=u-w --mtime=@0 --dereference --hard-dereference -cf - partita | gzip -6n > "$archive"
echo "$archive"
