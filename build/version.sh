#!/bin/sh
# Prints the version that the project's files name. What Maven has made of earlier ones stays in target/ until it is cleaned.
set -eu
sed -n 's:^  <version>\(.*\)</version>:\1:p' "$(dirname "$0")/../pom.xml"
