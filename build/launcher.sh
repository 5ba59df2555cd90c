#!/bin/sh
# Finishes what ./partita runs, after Maven has copied its libraries to cli/target/lib: the command line's own jar beside them, and an AOT cache
# (JEP 483), with which a command starts with two thirds of the processor time. Without a cache it runs all the same.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
jdk=$(sh "$root/build/find-jdk.sh")
lib=$root/cli/target/lib
cache=$root/cli/target/partita.aot

rm -f "$lib"/cli-*.jar
cp "$root/cli/target/cli-$(sh "$root/build/version.sh").jar" "$lib/"
touch -d @0 "$lib"/*.jar # the cache holds for jars of one time

key() {
    cat "$jdk/release" "$root/partita" "$root/deploy/command/Rehearsal.java" "$lib"/*.jar | sha256sum
}
if [ ! -e "$cache" ] || [ "$(cat "$cache.key" 2> /dev/null)" != "$(key)" ]; then
    rm -f "$cache" "$cache.key"
    "$jdk/bin/java" -XX:TieredStopAtLevel=1 "$root/deploy/image/NewerClassFiles.java" "$lib"/picocli-*.jar
    touch -d @0 "$lib"/picocli-*.jar
    if PARTITA_BUILD=never "$jdk/bin/java" -XX:TieredStopAtLevel=1 "$root/deploy/command/Rehearsal.java" "$root/partita" "$cache"; then
        key > "$cache.key"
    else
        rm -f "$cache"
        echo "partita: there is no AOT cache, so ./partita starts more slowly" >&2
    fi
fi
touch "$root/cli/target/launcher.stamp" # ./partita sees by it whether a source is newer
