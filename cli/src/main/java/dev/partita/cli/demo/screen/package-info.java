/** What the demo prints: chapters, pictures of cards, quotes of CDI files, and what was observed. */
@NullMarked
package dev.partita.cli.demo.screen;

import org.jspecify.annotations.NullMarked;
