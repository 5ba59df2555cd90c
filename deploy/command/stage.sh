#!/usr/bin/env bash
# Makes deploy/target/partita-VERSION-linux-PROCESSOR.tar.gz: the command line with a Java runtime of its own and an AOT cache, for machines
# without a JDK. Works on what is already packaged. With PARTITA_RELEASE_URL, where the archive will be, it makes a krew manifest as well.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
jdk=$(sh "$root/build/find-jdk.sh")
. "$root/deploy/image/runtime.sh"
runtime

version=$(sed -n 's:^  <version>\(.*\)</version>:\1:p' "$root/pom.xml")
case "$(uname -m)" in x86_64) processor=amd64 ;; aarch64) processor=arm64 ;; *) processor=$(uname -m) ;; esac
name=partita-$version-linux-$processor
stage=$root/deploy/target/command/partita
rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/lib/app"
cp -a "$runtime" "$stage/lib/runtime"
# Helm's library is for `cluster up`, which needs a checkout in any case.
tr ':' '\n' < "$root/cli/target/runtime.classpath" | grep -v '/helm-java/.*linux-\|/linux-[a-z0-9]*-[0-9.]*\.jar$' | xargs -r -d '\n' cp -p -t "$stage/lib/app"
cp -p "$root"/cli/target/cli-*.jar "$stage/lib/app/"
"$jdk/bin/java" "$root/deploy/image/NewerClassFiles.java" "$stage"/lib/app/picocli-*.jar
(cd "$stage/lib/app" && ls ./*.jar | paste -sd:) > "$stage/lib/classpath"
cp "$root/deploy/command/partita" "$root/LICENSE" "$stage/bin/"
mv "$stage/bin/LICENSE" "$stage/"
ln -s partita "$stage/bin/kubectl-partita"
cp "$root/kubectl_complete-partita" "$stage/bin/"
find "$stage" -exec touch -h -d @0 {} + # the cache holds for jars of one time
"$jdk/bin/java" "$root/deploy/command/Rehearsal.java" "$stage/bin/partita" "$stage/lib/partita.aot"

archive=$root/deploy/target/$name.tar.gz
# krew unpacks files and folders alone.
tar -C "$stage/.." --owner=0 --group=0 --dereference --hard-dereference -cf - partita | gzip -6 > "$archive"
sum=$(sha256sum "$archive" | cut -d' ' -f1)
echo "$archive"
if [ -n "${PARTITA_RELEASE_URL:-}" ]; then
  sed -e "s|@VERSION@|v${version%-SNAPSHOT}|" -e "s|@URL@|$PARTITA_RELEASE_URL/$name.tar.gz|" -e "s|@SUM@|$sum|" -e "s|@PROCESSOR@|$processor|" \
    "$root/deploy/command/krew.yaml" > "$root/deploy/target/partita.yaml"
  echo "$root/deploy/target/partita.yaml"
fi
