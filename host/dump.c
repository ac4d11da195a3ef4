/* dump.c -- the server's envelope around a module's value:
 *
 *   u8 7: a module's value | length: type id | length: 5, a string | length: its bytes | the payload | length: 0, the end
 *   u16 RDB version, u64 CRC-64 of all before it, both little endian
 *
 * A length is one byte below 64, or 0x81 and a u64, big endian. */
#include "dump.h"

#include <string.h>

#define VALUE_MODULE 7
#define OPCODE_STRING 5
#define OPCODE_END 0
#define LENGTH_64 0x81

/* Of the oldest server that this loads into, 6.2: RESTORE refuses what is newer than itself. */
#define RDB_VERSION 9

#define BEFORE (1 + 9 + 1 + 9)
#define AFTER (1 + 2 + 8)

static uint8_t *put_length(uint8_t *to, uint64_t length) {
    *to++ = LENGTH_64;
    for (int shift = 56; shift >= 0; shift -= 8) *to++ = (uint8_t)(length >> shift);
    return to;
}

static uint8_t *put_little_endian(uint8_t *to, uint64_t value, int bytes) {
    for (; bytes > 0; bytes--, value >>= 8) *to++ = (uint8_t)value;
    return to;
}

/* Six bits for each of nine characters, ten for the version. */
static uint64_t type_id(const char *name) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t id = 0;
    for (; *name; name++) id = id << 6 | (uint64_t)(strchr(alphabet, *name) - alphabet);
    return id << 10 | ENCODING_VERSION;
}

/* CRC-64 of the polynomial ad93d23594c935a9, here reflected. */
static uint64_t crc64(const uint8_t *bytes, size_t length) {
    static uint64_t table[256];
    uint64_t crc = 0;

    for (unsigned byte = 0; byte < 256 && table[255] == 0; byte++) {
        uint64_t entry = byte;
        for (int bit = 0; bit < 8; bit++) entry = entry >> 1 ^ (entry & 1 ? 0x95ac9329ac4bc9b5 : 0);
        table[byte] = entry;
    }
    for (size_t i = 0; i < length; i++) crc = table[(uint8_t)crc ^ bytes[i]] ^ crc >> 8;
    return crc;
}

status dump(const family *f, const bitmap *b, char **dumped, size_t *length) {
    size_t payload;
    status s = core_serialize(b, f->format, BEFORE, AFTER, dumped, &payload);
    if (s != OK) return s;

    uint8_t *begin = (uint8_t *)*dumped, *to = begin;
    *to++ = VALUE_MODULE;
    to = put_length(to, type_id(f->type_name));
    *to++ = OPCODE_STRING;
    to = put_length(to, payload) + payload;
    *to++ = OPCODE_END;
    to = put_little_endian(to, RDB_VERSION, 2);
    to = put_little_endian(to, crc64(begin, (size_t)(to - begin)), 8);
    *length = (size_t)(to - begin);
    return OK;
}
