/** Where an NVIDIA driver's libraries, programs and device nodes lie below a driver root. */
@NullMarked
package dev.partita.cdi.driver;

import org.jspecify.annotations.NullMarked;
