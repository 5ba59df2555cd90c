#!/bin/sh
# Prints the home of an installed JDK 25, looked for where maven-toolchains-plugin's select-jdk-toolchain looks; exit status 1 if there is none.
is_25() {
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] && grep -q '^JAVA_VERSION="25[."]' "$1/release"
}
for home in "$JAVA_HOME" "$JAVA25_HOME" "$JAVA_HOME_25_X64" "$JAVA_HOME_25_ARM64" \
  /usr/lib/jvm/* /usr/local/lib/jvm/* /opt/java/* /opt/jdk* \
  "$HOME"/.jdks/* "$HOME"/.m2/jdks/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jenv/versions/* "$HOME"/.asdf/installs/java/* \
  "$HOME"/.local/share/mise/installs/java/* "$HOME"/.gradle/jdks/*; do
  if [ -n "$home" ] && is_25 "$home"; then
    echo "$home"
    exit 0
  fi
done
javac=$(command -v javac) && home=$(dirname "$(dirname "$(readlink -f "$javac")")") && is_25 "$home" && echo "$home"
