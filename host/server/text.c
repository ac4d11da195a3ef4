#include "server/text.h"

#include <stdio.h>
#include <string.h>

const char *count_text(cardinality members, char text[COUNT_TEXT]) {
    if (members == TWO_TO_64) return "18446744073709551616";
    char *at = text + COUNT_TEXT - 1;
    uint64_t rest = (uint64_t)members;
    *at = '\0';
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    return at;
}

/* --- Offsets ------------------------------------------------------------------------------------------- */

#define TEN_TO_4 10000u
#define TEN_TO_8 100000000u

static const char pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static void put_four(char *at, uint32_t number) {
    memcpy(at, pairs + number / 100 * 2, 2);
    memcpy(at + 2, pairs + number % 100 * 2, 2);
}

static void put_eight(char *at, uint32_t number) {
    put_four(at, number / TEN_TO_4);
    put_four(at + 4, number % TEN_TO_4);
}

__attribute__((noinline)) static void rebase(decimal *d, uint64_t offset) {
    uint64_t quotient = offset / TEN_TO_4;
    put_eight(d->text, (uint32_t)(quotient / TEN_TO_8));
    put_eight(d->text + 8, (uint32_t)(quotient % TEN_TO_8));
    d->base = quotient * TEN_TO_4;
    for (d->leading = 0; d->leading < DIGITS_MAX - 4 && d->text[d->leading] == '0'; d->leading++) {}
}

const char *print_offset(decimal *d, uint64_t offset, size_t *length) {
    if (d->text[0] == '\0' || offset - d->base >= TEN_TO_4) rebase(d, offset);
    uint32_t low = (uint32_t)(offset - d->base);
    size_t leading = d->leading;
    put_four(d->text + DIGITS_MAX - 4, low);
    if (leading == DIGITS_MAX - 4) leading += (low < 1000) + (low < 100) + (low < 10);
    *length = DIGITS_MAX - leading;
    return d->text + leading;
}

size_t digits_of(uint64_t offset) {
    size_t count = 1;
    while (offset /= 10) count++;
    return count;
}

/* --- The log ------------------------------------------------------------------------------------------- */

/* The most bytes from a client in a log line. */
#define LOGGED_BYTES 128

const char *loggable(const RedisModuleString *sent, char text[LOGGABLE_BYTES]) {
    char *at = text;
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(sent, &length);
    for (size_t i = 0; i < length && i < LOGGED_BYTES; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '\n') at += sprintf(at, "\\n");
        else if (byte == '\r') at += sprintf(at, "\\r");
        else if (byte < ' ' || byte > '~') at += sprintf(at, "\\x%02x", byte);
        else if (byte == '\'' || byte == '\\') at += sprintf(at, "\\%c", byte);
        else *at++ = (char)byte;
    }
    strcpy(at, length > LOGGED_BYTES ? "..." : "");
    return text;
}
