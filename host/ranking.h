/* ranking.h -- how alike bitmaps are to one, as exact scores, and which are most alike.
 *
 * A score is a fraction of two numbers of members. Comparing them needs no division, so nothing is rounded.
 * */
#ifndef ROAR_RANKING_H
#define ROAR_RANKING_H

#include "sandbox.h"

enum measure { BY_CARD, BY_JACCARD, BY_OVERLAP };

/* part / whole; there is no score if `whole` is 0. With BY_CARD, `whole` is 1, otherwise part <= whole. */
typedef struct score {
    cardinality part, whole;
} score;

/* The score of two bitmaps of `a` and `b` members that share `shared`. */
score score_of(enum measure by, cardinality shared, cardinality a, cardinality b);
/* Less than, equal to or greater than 0, as x is to y. Both exist. */
int score_compare(score x, score y);

/* A bitmap that may be among those with the greatest scores. */
typedef struct ranked {
    score score;
    uint32_t facet;
} ranked;

/* Which of `facets` bitmaps, whose numbers of members are `sizes`, have the greatest scores. Of equal ones,
 * the first are the greatest. */
typedef struct ranking {
    enum measure by;
    score least; /* scores below it do not count */
    int above_zero; /* nor do those that are 0 */
    uint64_t top; /* how many are wanted */
    cardinality of_one; /* members of the bitmap that all are compared with */
    const cardinality *sizes;
    uint32_t facets;
    ranked *best; /* the result, the greatest first, has room for `facets` */
    uint32_t count;
} ranking;

/* Counts the members that facet `facet` shares with the one; if they are fewer than `need`, sets *shared to a
 * number below `need`. */
typedef status share_counter(void *context, uint32_t facet, uint64_t need, cardinality *shared);

/* Finds them. Counts the facets in the order of the greatest scores that their sizes allow, and stops where
 * the others cannot be among the greatest any more. */
status rank_facets(ranking *r, share_counter *count, void *context);

#endif
