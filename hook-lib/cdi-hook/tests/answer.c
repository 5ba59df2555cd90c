/* SPDX-License-Identifier: Apache-2.0 */
/* A library that says whose it is. */
const char *partita_test_answer(void);
extern const char partita_test_behind[];

/* By the name of the library behind it a shadow is known. */
const char partita_test_behind[] = BEHIND;

const char *partita_test_answer(void) {
    return ANSWER;
}
