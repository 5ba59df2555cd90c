/* SPDX-License-Identifier: Apache-2.0 */
/* A library that says whose it is. */
const char *partita_test_answer(void);
extern const char partita_test_behind[];

/* By the name of the library behind it a shadow is known. */
const char partita_test_behind[] = BEHIND;

const char *partita_test_answer(void) {
    return ANSWER;
}

#ifdef DRIVERS
/* What NVIDIA's compat libraries have since CUDA 12.9: the drivers that they work with. */
__asm__(".pushsection .note.cuda.fwd_compatibility, \"a\", %note\n"
        "  .balign 4\n"
        "  .long 2f - 1f, 4f - 3f, 1\n"
        "1: .asciz \"NVIDIA Corporation\"\n"
        "2: .balign 4\n"
        "3: .asciz \"{\\\"format\\\": 1, \\\"CUDA version\\\": \\\"13.0\\\", \\\"driver\\\": " DRIVERS "}\"\n"
        "4: .balign 4\n"
        ".popsection\n");
#endif
