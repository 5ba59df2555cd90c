/** Writing what was decided: proposals, allocations, scheduling gates and evictions. */
@NullMarked
package dev.partita.controller.commit;

import org.jspecify.annotations.NullMarked;
