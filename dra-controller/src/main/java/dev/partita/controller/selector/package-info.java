/** CEL device selectors as Kubernetes has them. */
@NullMarked
package dev.partita.controller.selector;

import org.jspecify.annotations.NullMarked;
