/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of what other threads or processes write, of any width up to 8 bytes, by the order that they are in.
 * Acquire: what follows sees what stood before the release that wrote it. Relaxed: no order between them, only no torn
 * value.
 */
#ifndef PARTITA_ATOMICS_H
#define PARTITA_ATOMICS_H

#define load_acquire(at) __atomic_load_n(at, __ATOMIC_ACQUIRE)
#define load_relaxed(at) __atomic_load_n(at, __ATOMIC_RELAXED)

#define store_release(at, value) __atomic_store_n(at, value, __ATOMIC_RELEASE)
#define store_relaxed(at, value) __atomic_store_n(at, value, __ATOMIC_RELAXED)

#endif
