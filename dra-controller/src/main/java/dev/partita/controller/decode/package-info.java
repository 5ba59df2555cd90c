/** Which fields of the API server's objects are decoded: what nothing reads never becomes an object. */
@NullMarked
package dev.partita.controller.decode;

import org.jspecify.annotations.NullMarked;
