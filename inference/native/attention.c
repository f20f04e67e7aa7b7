/* Attention of some queries over the slots of one key head, in float32. The sums of one query do not depend on the
   others. With AVX-512 two queries share what is read: the same sums, so the same bits. */

/* Queries of one key head that are worked together, over so many slots at a time: they share what they read. */
#define TOGETHER 16
#define SLOTS 64

typedef struct {
    const float *query;
    const uint8_t *seen;  /* null: all of them */
    long span;            /* up to the last that is seen */
    float *scores;        /* room for the span and seven more */
    float *out;
    float inverse;
} Query;

/* Scores of one query with the slots from `first` on. */
INLINE void score(const Query *q, const float *keys, long first, long last, long size, float scale) {
    long j = first;
    for (; j + 8 <= last; j += 8) {
        __m256 sums[8];
        UNROLL for (int i = 0; i < 8; i++) sums[i] = _mm256_setzero_ps();
        for (long d = 0; d < size; d += 8) {
            const __m256 part = _mm256_loadu_ps(q->query + d);
            UNROLL for (int i = 0; i < 8; i++)
                sums[i] = _mm256_fmadd_ps(part, _mm256_loadu_ps(keys + (j + i) * size + d), sums[i]);
        }
        UNROLL for (int i = 0; i < 8; i += 4)
            _mm_storeu_ps(q->scores + j + i, _mm_mul_ps(four_sums(sums + i), _mm_set1_ps(scale)));
    }
    for (; j < last; j++) {
        __m256 sums = _mm256_setzero_ps();
        for (long d = 0; d < size; d += 8)
            sums = _mm256_fmadd_ps(_mm256_loadu_ps(q->query + d), _mm256_loadu_ps(keys + j * size + d), sums);
        q->scores[j] = sum(sums) * scale;
    }
}

/* Scores to shares, not yet divided by their sum. */
INLINE void share(Query *q) {
    __m256 tops = _mm256_set1_ps(-INFINITY), total = _mm256_setzero_ps();
    const __m256 nothing = tops;
    const long span = q->span;
    for (long j = span; j < span + 7; j++) q->scores[j] = -INFINITY;
    for (long j = 0; j < span; j += 8) {
        __m256 some = _mm256_loadu_ps(q->scores + j);
        if (q->seen) {
            uint64_t seen = 0;
            if (j + 8 <= span) memcpy(&seen, q->seen + j, 8);
            else memcpy(&seen, q->seen + j, span - j);
            const __m256i is = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)seen));
            some = _mm256_blendv_ps(nothing, some, _mm256_castsi256_ps(_mm256_slli_epi32(is, 31)));
            _mm256_storeu_ps(q->scores + j, some);
        }
        tops = _mm256_max_ps(some, tops);
    }
    float top[8];
    _mm256_storeu_ps(top, tops);
    for (int i = 1; i < 8; i++) top[0] = top[i] > top[0] ? top[i] : top[0];
    for (long j = 0; j < span; j += 8) {
        const __m256 shares = power(_mm256_sub_ps(_mm256_loadu_ps(q->scores + j), _mm256_set1_ps(top[0])));
        _mm256_storeu_ps(q->scores + j, shares);
        total = _mm256_add_ps(total, shares);
    }
    q->inverse = 1 / sum(total);
}

/* `parts` times eight numbers of the values of some slots, by their shares, added to `out`. */
INLINE void mix(int parts, const float *shares, const float *values, long first, long last, long size, float *out) {
    __m256 sums[8];
    UNROLL for (int p = 0; p < parts; p++) sums[p] = _mm256_loadu_ps(out + 8 * p);
    for (long j = first; j < last; j++) {
        if (shares[j] == 0) continue; /* what is not seen may be anything */
        const __m256 by = _mm256_set1_ps(shares[j]);
        UNROLL for (int p = 0; p < parts; p++)
            sums[p] = _mm256_fmadd_ps(by, _mm256_loadu_ps(values + j * size + 8 * p), sums[p]);
    }
    UNROLL for (int p = 0; p < parts; p++) _mm256_storeu_ps(out + 8 * p, sums[p]);
}

INLINE void mix_one(const Query *q, const float *values, long first, long last, long size) {
    long d = 0;
    for (; d + 64 <= size; d += 64) mix(8, q->scores, values + d, first, last, size, q->out + d);
    for (; d < size; d += 8) mix(1, q->scores, values + d, first, last, size, q->out + d);
}

/* Some queries over the slots that each sees. The sums of one do not depend on the others. */
INLINE void attend_with(long size, Query *queries, long count, const float *keys, const float *values, float scale) {
    long span = 0;
    for (long i = 0; i < count; i++) span = queries[i].span > span ? queries[i].span : span;
#define OVER_SLOTS                                                                                                     \
    for (long first = 0; first < span; first += SLOTS)                                                                 \
        for (long i = 0; i < count; i++)                                                                               \
            for (long last = first + SLOTS < queries[i].span ? first + SLOTS : queries[i].span; last > first; last = 0)
    OVER_SLOTS score(queries + i, keys, first, last, size, scale);
    for (long i = 0; i < count; i++) {
        share(queries + i);
        memset(queries[i].out, 0, 4 * size);
    }
    OVER_SLOTS mix_one(queries + i, values, first, last, size);
#undef OVER_SLOTS
    for (long i = 0; i < count; i++)
        for (long d = 0; d < size; d++) queries[i].out[d] *= queries[i].inverse;
}

/* Scores of two queries with the slots from `first` on. */
INLINE_WIDE void score_two(const Query *q, const Query *next, const float *keys, long first, long last, long size,
                           float scale) {
    long j = first;
    for (; j + 8 <= last; j += 8) {
        __m512 sums[8];
        UNROLL for (int i = 0; i < 8; i++) sums[i] = _mm512_setzero_ps();
        for (long d = 0; d < size; d += 8) {
            const __m512 part = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(q->query + d)),
                                                   _mm256_loadu_ps(next->query + d), 1);
            UNROLL for (int i = 0; i < 8; i++)
                sums[i] = _mm512_fmadd_ps(part, _mm512_broadcast_f32x8(_mm256_loadu_ps(keys + (j + i) * size + d)),
                                          sums[i]);
        }
        __m256 mine[8], others[8];
        UNROLL for (int i = 0; i < 8; i++) {
            mine[i] = _mm512_castps512_ps256(sums[i]);
            others[i] = _mm512_extractf32x8_ps(sums[i], 1);
        }
        UNROLL for (int i = 0; i < 8; i += 4) {
            _mm_storeu_ps(q->scores + j + i, _mm_mul_ps(four_sums(mine + i), _mm_set1_ps(scale)));
            _mm_storeu_ps(next->scores + j + i, _mm_mul_ps(four_sums(others + i), _mm_set1_ps(scale)));
        }
    }
    score(q, keys, j, last, size, scale);
    score(next, keys, j, last, size, scale);
}

/* As mix(), of two queries, `parts` times sixteen numbers from `d` on. */
INLINE_WIDE void mix_two(int parts, const Query *q, const Query *next, const float *values, long first, long last,
                         long size, long d) {
    __m512 mine[4], others[4];
    UNROLL for (int p = 0; p < parts; p++) {
        mine[p] = _mm512_loadu_ps(q->out + d + 16 * p);
        others[p] = _mm512_loadu_ps(next->out + d + 16 * p);
    }
    for (long j = first; j < last; j++) {
        const float by = q->scores[j], theirs = next->scores[j];
        const __mmask16 is_mine = by == 0 ? 0 : 0xFFFF, is_theirs = theirs == 0 ? 0 : 0xFFFF;
        if (!is_mine && !is_theirs) continue;
        UNROLL for (int p = 0; p < parts; p++) {
            const __m512 value = _mm512_loadu_ps(values + j * size + d + 16 * p);
            mine[p] = _mm512_mask3_fmadd_ps(_mm512_set1_ps(by), value, mine[p], is_mine);
            others[p] = _mm512_mask3_fmadd_ps(_mm512_set1_ps(theirs), value, others[p], is_theirs);
        }
    }
    UNROLL for (int p = 0; p < parts; p++) {
        _mm512_storeu_ps(q->out + d + 16 * p, mine[p]);
        _mm512_storeu_ps(next->out + d + 16 * p, others[p]);
    }
}

/* Queries two by two over the slots that both see, then each over those that it sees alone. */
INLINE_WIDE void attend_wide_with(long size, Query *queries, long count, const float *keys, const float *values,
                                  float scale) {
    long span = 0;
    for (long i = 0; i < count; i++) span = queries[i].span > span ? queries[i].span : span;
    for (int is_mixing = 0; is_mixing < 2; is_mixing++) {
        for (long first = 0; first < span; first += SLOTS) {
            for (long i = 0; i < count; i += 2) {
                const Query *q = queries + i, *next = i + 1 < count ? q + 1 : 0;
                const long end = first + SLOTS, last = end < q->span ? end : q->span;
                const long other = !next ? first : end < next->span ? end : next->span;
                const long both = last < other ? last : other, rest = both > first ? both : first;
                if (is_mixing) {
                    long d = 0;
                    if (both > first) {
                        for (; d + 64 <= size; d += 64) mix_two(4, q, next, values, first, both, size, d);
                        for (; d + 16 <= size; d += 16) mix_two(1, q, next, values, first, both, size, d);
                        for (; d < size; d += 8) {
                            mix(1, q->scores, values + d, first, both, size, q->out + d);
                            mix(1, next->scores, values + d, first, both, size, next->out + d);
                        }
                    }
                    if (last > rest) mix_one(q, values, rest, last, size);
                    if (other > rest) mix_one(next, values, rest, other, size);
                } else {
                    if (both > first) score_two(q, next, keys, first, both, size, scale);
                    if (last > rest) score(q, keys, rest, last, size, scale);
                    if (other > rest) score(next, keys, rest, other, size, scale);
                }
            }
        }
        for (long i = 0; i < count; i++) {
            if (is_mixing) {
                for (long d = 0; d < size; d++) queries[i].out[d] *= queries[i].inverse;
            } else {
                share(queries + i);
                memset(queries[i].out, 0, 4 * size);
            }
        }
    }
}

/* The usual sizes of heads are known to the compiler: its loops over them are half as long. */
#define ATTEND(NAME, TARGETS, WITH)                                                                                   \
    TARGETS static void NAME(Query *queries, long count, const float *keys, const float *values, long size,           \
                             float scale) {                                                                           \
        if (size == 64) WITH(64, queries, count, keys, values, scale);                                                \
        else if (size == 128) WITH(128, queries, count, keys, values, scale);                                         \
        else WITH(size, queries, count, keys, values, scale);                                                         \
    }
ATTEND(attend_narrow, TARGET, attend_with)
ATTEND(attend_wide, TARGET_WIDE, attend_wide_with)
