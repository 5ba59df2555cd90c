#!/bin/sh
# Names every build tool that is missing, with how to get it; exit status 1 if one is.
here=$(dirname "$0")
missing=0
lacks() {
  echo "partita: $1" >&2
  missing=1
}
sh "$here/find-jdk.sh" >/dev/null || lacks "no JDK 25 was found. Install one: package openjdk-25-jdk-headless (Debian 13 backports, Ubuntu 25.10 or newer), java-25-openjdk-devel (Fedora), temurin-25-jdk (Eclipse Temurin, adoptium.net), or 'sdk install java 25-tem'; or set JAVA25_HOME to one."
command -v cmake >/dev/null || lacks "cmake (3.18 or newer) is missing. Install it: 'apt-get install cmake' or 'dnf install cmake'."
command -v cc >/dev/null || command -v gcc >/dev/null || lacks "a C compiler is missing. Install one: 'apt-get install gcc libc6-dev' or 'dnf install gcc'."
command -v make >/dev/null || command -v ninja >/dev/null || lacks "make is missing. Install it: 'apt-get install make' or 'dnf install make'."
exit $missing
