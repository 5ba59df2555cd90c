/** Containers to which CDI is applied, by namespaces or by the library path, and the folders they are made of. */
@NullMarked
package dev.partita.cli.demo.container;

import org.jspecify.annotations.NullMarked;
