/** What the web page shows, made of what the cluster is: pure, and written as JSON as it stands. */
@NullMarked
package dev.partita.controller.web.view;

import org.jspecify.annotations.NullMarked;
