#!/usr/bin/env bash
# Fuzzes what tenants and containers write and our Java programs read, from the corpus in the tree, with Jazzer: every *FuzzTest, as many at a time as there are processors.
# usage: build/fuzz.sh [SECONDS [NAME]]    for all together (60 by default); only the class of that name
# PARTITA_BUILD=never fuzzes what was built before.
# PARTITA_FUZZ_SEED=N tries the same inputs as every other run with that seed, as CI does: what is new is for people to look for.
# An input that fails a test is written into the test's corpus (src/test/resources), where `mvn verify` replays it from then on.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
seconds=${1:-60} only=${2:-}
case $seconds in '' | *[!0-9]*) echo "usage: build/fuzz.sh [SECONDS [NAME]]" >&2; exit 2 ;; esac

mapfile -t targets < <(find ./*/src/test/java -name "${only:-*FuzzTest}.java" | sort)
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: there is no ${only:-*FuzzTest}.java" >&2; exit 2; }
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1
modules=$(printf '%s\n' "${targets[@]}" | cut -d/ -f2 | sort -u | paste -sd,)
java=$(sh build/find-jdk.sh)/bin/java
at_once=$(nproc)
if [ "${PARTITA_BUILD:-auto}" != never ]; then
  echo "fuzz: building $modules ..."
  # Packaged, for classes that were compiled against others' jars would all be compiled again.
  mvn -B -q -pl "$modules" -am -DskipTests -Dctest.skip=true package
fi

# Fuzzes one target, and says what came of it in one piece: others run beside it.
fuzz() {
  local module class log
  module=$(cut -d/ -f2 <<< "$1")
  class=$(sed 's:.*/src/test/java/::; s:\.java$::; s:/:.:g' <<< "$1")
  log=$module/target/fuzz-${class##*.}.log
  if (cd "$module" && "$java" -Xmx1g --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
      -cp "target/test-classes:target/classes:$(cat target/test.classpath)" com.code_intelligence.jazzer.Jazzer \
      --target_class="$class" --instrumentation_includes='dev.partita.**' -seed="${PARTITA_FUZZ_SEED:-0}" -max_total_time="$each" -timeout=30 -rss_limit_mb=3000) > "$log" 2>&1; then
    echo "fuzz: ${class##*.}: $(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 inputs in \2 s/p' "$log")"
  else
    echo "fuzz: ${class##*.} FAILED; the whole log is in $log:
$(grep -A 12 -E '^== |ERROR: ' "$log" | head -30 || tail -n 20 "$log")"
    return 1
  fi
}

# As many at a time as there are processors: half of the time each of them starts.
passed=0 failed=0
for ((first = 0; first < ${#targets[@]}; first += at_once)); do
  running=()
  for target in "${targets[@]:first:at_once}"; do
    fuzz "$target" &
    running+=($!)
  done
  for process in "${running[@]}"; do
    if wait "$process"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" = 0 ]
