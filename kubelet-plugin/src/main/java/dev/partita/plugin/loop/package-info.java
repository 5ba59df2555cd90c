/** What the plugin does again and again, and how it is known that it still does. */
@NullMarked
package dev.partita.plugin.loop;

import org.jspecify.annotations.NullMarked;
