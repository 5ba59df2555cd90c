/** What follows from what was seen: how a share stands against its claim, and what is done about excess. */
@NullMarked
package dev.partita.plugin.usage.verdict;

import org.jspecify.annotations.NullMarked;
