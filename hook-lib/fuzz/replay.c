/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on the files of folders: replay FOLDER...; exit status 2 if there are none. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int replay(const char *folder) {
    static uint8_t bytes[1 << 20];
    int files = 0;
    char path[512];
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rbe");
        EXPECT(file);
        size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        fprintf(stderr, "%s\n", path); /* the last one named is the one that failed */
        LLVMFuzzerTestOneInput(bytes, length);
        files++;
    }
    if (list)
        closedir(list);
    return files;
}

int main(int argc, char **argv) {
    int files = 0;
    for (int i = 1; i < argc; i++)
        files += replay(argv[i]);
    printf("%d inputs\n", files);
    return files ? 0 : 2;
}
