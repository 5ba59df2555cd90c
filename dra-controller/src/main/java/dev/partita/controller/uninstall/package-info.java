/** What is done before the chart is uninstalled: no pod is stranded, and nothing is left of what controllers made. */
@NullMarked
package dev.partita.controller.uninstall;

import org.jspecify.annotations.NullMarked;
