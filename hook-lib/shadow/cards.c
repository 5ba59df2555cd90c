#include "cards.h"

#include <errno.h>
#include <string.h>

#include "places.h"

enum { SHARES_MAX = 64 };

static struct share shares[SHARES_MAX];
static size_t share_count;
static bool limited;
static bool too_many; /* more shares than there is room for: cards that are not found are refused */

static void add_share(const char *quota_path, const char *usage_path) {
    if (share_count == SHARES_MAX) {
        too_many = true;
        return;
    }
    struct share *share = &shares[share_count++];
    strcpy(share->quota_path, quota_path); /* places_each promises the length */
    strcpy(share->usage_path, usage_path);
    share_open(share);
}

void cards_open(const void *self) {
    int error = errno;
    limited = places_each_share(self, add_share, &too_many);
    errno = error;
}

bool cards_limited(void) {
    return limited;
}

/* A card is known by its first share. */
int cards_find(const char *gpu) {
    int error = errno;
    bool unreadable = too_many || share_count == 0;
    int found = CARD_UNLIMITED;
    for (size_t i = 0; i < share_count && found < 0; i++) {
        if (!shares[i].gpu[0])
            share_tend(&shares[i], SHARE_IF_DUE, false); /* it may be readable by now */
        if (!shares[i].gpu[0])
            unreadable = true;
        else if (strcmp(shares[i].gpu, gpu) == 0)
            found = (int)i;
    }
    errno = error;
    return found < 0 && unreadable ? CARD_REFUSED : found;
}

static bool of_card(size_t i, int card) {
    return i >= (size_t)card && strcmp(shares[i].gpu, shares[card].gpu) == 0;
}

static size_t last_share(int card) {
    size_t last = (size_t)card;
    for (size_t i = last + 1; i < share_count; i++)
        if (of_card(i, card))
            last = i;
    return last;
}

/* All but the last share give what they have, the last one the rest or nothing. */
static bool charge(int card, size_t last, uint64_t units) {
    uint64_t rest = units;
    for (size_t i = (size_t)card; i <= last && rest > 0; i++)
        if (of_card(i, card))
            rest -= share_charge(&shares[i], rest, i != last);
    if (rest == 0)
        return true;
    cards_release(card, units - rest);
    return false;
}

bool cards_charge(int card, uint64_t units) {
    if (units > PARTITA_UNITS_MAX)
        return false;
    size_t last = last_share(card);
    if (charge(card, last, units))
        return true;
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card))
            share_tend(&shares[i], SHARE_NOW, true); /* the quota may have grown, somebody may have died */
    if (charge(card, last, units))
        return true;
    if (shares[last].file.region)
        __atomic_fetch_add(&shares[last].file.region->refused, 1, __ATOMIC_RELAXED);
    return false;
}

/* Which share an allocation was charged to need not be known: what all of them hold is the sum of what is allocated. */
void cards_release(int card, uint64_t units) {
    for (size_t i = last_share(card) + 1; i-- > (size_t)card && units > 0;)
        if (of_card(i, card))
            units -= share_release(&shares[i], units);
}

void cards_view(int card, bool join, uint64_t *limit, uint64_t *used) {
    uint64_t limit_units = 0, used_units = 0;
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++) {
        if (!of_card(i, card))
            continue;
        share_tend(&shares[i], SHARE_IF_DUE, join);
        limit_units += __atomic_load_n(&shares[i].limit, __ATOMIC_RELAXED);
        used_units += share_used(&shares[i]);
    }
    *limit = limit_units * PARTITA_UNIT;
    *used = used_units * PARTITA_UNIT;
}

static bool add_process(struct card_process *processes, size_t room, size_t *count, uint32_t pid, uint64_t bytes) {
    for (size_t i = 0; i < *count && i < room; i++)
        if (processes[i].pid == pid) {
            processes[i].bytes += bytes;
            return false;
        }
    if (*count < room)
        processes[*count] = (struct card_process){pid, bytes};
    ++*count;
    return true;
}

size_t cards_processes(int card, struct card_process *processes, size_t room) {
    int error = errno;
    size_t count = 0, last = last_share(card);
    struct owner self = owner_self();
    for (size_t i = (size_t)card; i <= last; i++) {
        if (!of_card(i, card))
            continue;
        share_tend(&shares[i], SHARE_NOW, false);
        struct partita_region *region = shares[i].file.region;
        for (uint32_t slot = 0; region && slot < region->high_water && slot < PARTITA_SLOTS; slot++) {
            struct seat seat;
            struct owner owner;
            if (seats_owner(region, slot, &seat, &owner) && owner.pid_namespace == self.pid_namespace)
                add_process(processes, room, &count, owner.pid, ledger_held(region, slot) * PARTITA_UNIT);
        }
    }
    errno = error;
    return count;
}

void cards_forked(void) {
    for (size_t i = 0; i < share_count; i++)
        share_forked(&shares[i]);
}

enum { SMALL = 1 << 20, PAGE = 2 << 20 };

static uint64_t in_steps(uint64_t bytes, uint64_t step) {
    if (bytes > UINT64_MAX - step)
        return UINT64_MAX;
    return (bytes + step - 1) / step * (step / PARTITA_UNIT);
}

uint64_t units_of(uint64_t bytes) {
    return in_steps(bytes, bytes > SMALL ? PAGE : PARTITA_UNIT);
}

uint64_t units_of_pages(uint64_t bytes) {
    return in_steps(bytes, PAGE);
}

void card_uuid_text(const unsigned char bytes[16], char text[41]) {
    static const char digits[] = "0123456789abcdef";
    char *to = text;
    memcpy(to, "GPU-", 4);
    to += 4;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
}
