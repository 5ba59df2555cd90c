/** What is done on a node for a claim, step by step: what each step writes, and what a container gets by it. */
@NullMarked
package dev.partita.plugin.step;

import org.jspecify.annotations.NullMarked;
