/* Which token wins: the border of top-p, and the best of what stays with its noise, drawn only where something stays.
   Sums and comparisons are the same on any threads. Knows nothing of Python. */

/* Whole numbers in the order of the floats; both zeros are the same. */
INLINE __m256i ordered(__m256 x) {
    const __m256i bits = _mm256_castps_si256(_mm256_add_ps(x, _mm256_setzero_ps()));
    const __m256i negative = _mm256_srai_epi32(bits, 31);
    return _mm256_xor_si256(bits, _mm256_or_si256(negative, _mm256_set1_epi32(INT32_MIN)));
}

/* Eight logits over the temperature, or as many as there are and nothing (-inf) beyond. */
INLINE __m256 warmed(const float *row, long left, __m256 temperature) {
    if (left >= 8) return _mm256_div_ps(_mm256_loadu_ps(row), temperature);
    float some[8];
    for (long i = 0; i < 8; i++) some[i] = i < left ? row[i] : -INFINITY;
    return _mm256_div_ps(_mm256_loadu_ps(some), temperature);
}

/* The largest, or what is no number where there is one. */
TARGET static float largest(const float *row, long size, __m256 temperature) {
    __m256 top = _mm256_set1_ps(-INFINITY), unordered = _mm256_setzero_ps();
    for (long i = 0; i < size; i += 8) {
        const __m256 x = warmed(row + i, size - i, temperature);
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        top = _mm256_max_ps(top, x);
    }
    if (_mm256_movemask_ps(unordered)) return NAN;
    float all[8];
    _mm256_storeu_ps(all, top);
    for (int i = 1; i < 8; i++) all[0] = all[i] > all[0] ? all[i] : all[0];
    return all[0];
}

typedef struct {
    float logit;  /* What is larger stays. */
    long last;    /* Of what is equal the ids up to this one stay. */
} Border;

/* What all that are lighter than an even share of the tail weigh together is less than the tail, so none of them can stay.
   A bound of it that needs no sum: the largest alone weighs 1. */
INLINE float even_share(long size, double top_p) {
    return (float)((1 - top_p) / size * 0.999);
}

/* Digits of the ordered numbers, from the first on. */
#define DIGITS 3
static const int SHIFTS[DIGITS] = {20, 8, 0}, RADIX[DIGITS] = {4096, 4096, 256};

/* Of the fewest best tokens whose probability reaches `top_p`; of equals the lower ids are better. The mass of each
   value of a digit is summed; where the running sum from the best on reaches what is wanted, the next digit of those
   with this value decides. `keys` and `weights` [size + 7] are for its own use. */
TARGET static Border border_among(const float *row, long size, __m256 temperature, float top, double top_p,
                                  uint32_t *keys, float *weights) {
    double mass[4096] = {0}, wanted;
    __m256d low = _mm256_setzero_pd(), high = low;
    const __m256 least = _mm256_set1_ps(even_share(size, top_p));
    long count = 0;
    for (long i = 0; i < size; i += 8) {
        const __m256 x = warmed(row + i, size - i, temperature);
        const __m256 weight = power(_mm256_sub_ps(x, _mm256_set1_ps(top)));
        low = _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(weight)));
        high = _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps(weight, 1)));
        unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(weight, least, _CMP_GE_OQ));
        if (!mask) continue;
        uint32_t some_keys[8];
        float some_weights[8];
        _mm256_storeu_si256((__m256i *)some_keys, ordered(x));
        _mm256_storeu_ps(some_weights, weight);
        for (; mask; mask &= mask - 1) {
            const int lane = __builtin_ctz(mask);
            keys[count] = some_keys[lane];
            weights[count++] = some_weights[lane];
            mass[some_keys[lane] >> SHIFTS[0]] += some_weights[lane];
        }
    }
    low = _mm256_add_pd(low, high);
    wanted = top_p * (low[0] + low[1] + low[2] + low[3]);
    uint32_t prefix = 0;
    for (int d = 0;; d++) {
        /* Rounded sums may miss what is wanted: then the border is the last value that weighs anything. */
        long digit = RADIX[d] - 1, lowest = 0;
        while (!(mass[lowest] > 0)) lowest++;
        while (digit > lowest && mass[digit] < wanted) wanted -= mass[digit--];
        prefix = d ? prefix << (SHIFTS[d - 1] - SHIFTS[d]) | (uint32_t)digit : (uint32_t)digit;
        if (d == DIGITS - 1) break;
        /* What begins so moves to the front, in its order. */
        long kept = 0;
        const __m256i same = _mm256_set1_epi32((int)prefix);
        memset(mass, 0, sizeof mass);
        for (long i = 0; i < count; i += 8) {
            const __m256i some = _mm256_loadu_si256((const __m256i *)(keys + i));
            const __m256i found = _mm256_cmpeq_epi32(_mm256_srl_epi32(some, _mm_cvtsi32_si128(SHIFTS[d])), same);
            unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(found));
            if (count - i < 8) mask &= (1u << (count - i)) - 1;
            for (; mask; mask &= mask - 1) {
                const long at = i + __builtin_ctz(mask);
                const uint32_t key = keys[at];
                const float weight = weights[at];
                keys[kept] = key;
                weights[kept++] = weight;
                mass[key >> SHIFTS[d + 1] & (uint32_t)(RADIX[d + 1] - 1)] += weight;
            }
        }
        count = kept;
    }
    Border found = {.last = -1};
    const uint32_t bits = prefix & 0x80000000u ? prefix & 0x7FFFFFFFu : ~prefix;
    memcpy(&found.logit, &bits, 4);
    const float weight = power(_mm256_set1_ps(found.logit - top))[0];
    double more = weight > 0 ? ceil(wanted / weight - 1e-9) : size;
    const __m256 border = _mm256_set1_ps(found.logit);
    for (long i = 0; i < size; i += 8) {
        const __m256 x = warmed(row + i, size - i, temperature);
        unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, border, _CMP_EQ_OQ));
        for (; mask && (more > 0 || found.last < 0); mask &= mask - 1, more--) found.last = i + __builtin_ctz(mask);
        if (found.last >= 0 && more <= 0) break;
    }
    return found;
}

/* The same in memory of its own; 0 without it. */
static int nucleus_border(const float *row, long size, __m256 temperature, float top, double top_p, Border *found) {
    uint32_t *keys = malloc((size + 7) * (sizeof(uint32_t) + sizeof(float)));
    if (!keys) return 0;
    *found = border_among(row, size, temperature, top, top_p, keys, (float *)(keys + size + 7));
    free(keys);
    return 1;
}

/* Whether a token is of the nucleus: what is better than it must weigh less than `top_p` of all. */
TARGET static int is_inside(const float *row, long size, __m256 temperature, float top, double top_p, long token) {
    const __m256 logit = _mm256_div_ps(_mm256_set1_ps(row[token]), temperature);
    __m256d all[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()}, better[2] = {all[0], all[0]};
    const __m256i own = _mm256_set1_epi32((int)token);
    for (long i = 0; i < size; i += 8) {
        const __m256 x = warmed(row + i, size - i, temperature);
        const __m256 weight = power(_mm256_sub_ps(x, _mm256_set1_ps(top)));
        const __m256i ids = _mm256_add_epi32(_mm256_set1_epi32((int)i), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const __m256 earlier = _mm256_castsi256_ps(_mm256_cmpgt_epi32(own, ids));
        const __m256 before = _mm256_or_ps(_mm256_cmp_ps(x, logit, _CMP_GT_OQ),
                                           _mm256_and_ps(earlier, _mm256_cmp_ps(x, logit, _CMP_EQ_OQ)));
        const __m256 some = _mm256_and_ps(weight, before);
        all[0] = _mm256_add_pd(all[0], _mm256_cvtps_pd(_mm256_castps256_ps128(weight)));
        all[1] = _mm256_add_pd(all[1], _mm256_cvtps_pd(_mm256_extractf128_ps(weight, 1)));
        better[0] = _mm256_add_pd(better[0], _mm256_cvtps_pd(_mm256_castps256_ps128(some)));
        better[1] = _mm256_add_pd(better[1], _mm256_cvtps_pd(_mm256_extractf128_ps(some, 1)));
    }
    const __m256d left = _mm256_sub_pd(_mm256_mul_pd(_mm256_add_pd(all[0], all[1]), _mm256_set1_pd(top_p)),
                                       _mm256_add_pd(better[0], better[1]));
    return left[0] + left[1] + left[2] + left[3] > 0;
}

/* The token with the largest logit over the temperature plus noise, float32 sums, the lower id of equals: of those inside
   the border whose logit is at least `lowest`. */
TARGET static long best_inside(const float *row, long size, __m256 temperature, Border border, float lowest,
                               uint64_t seed, uint64_t position, int threads) {
    const __m256 least = _mm256_set1_ps(lowest), logit = _mm256_set1_ps(border.logit);
    const __m256i last = _mm256_set1_epi32((int)border.last);
    float best = -INFINITY;
    long token = -1;
    _Pragma("omp parallel num_threads(threads)") {
        __m256 values = _mm256_set1_ps(-INFINITY);
        __m256i tokens = _mm256_set1_epi32(-1);
        _Pragma("omp for schedule(static)") for (long start = 0; start < size; start += DRAWN) {
            for (long first = start; first < size && first < start + DRAWN; first += 32) {
                __m256 x[4], stays[4];
                __m256i ids[4];
                int any = 0;
                UNROLL for (int v = 0; v < 4; v++) {
                    const long at = first + 8 * v;
                    x[v] = at < size ? warmed(row + at, size - at, temperature) : _mm256_set1_ps(-INFINITY);
                    ids[v] = _mm256_add_epi32(_mm256_set1_epi32((int)at), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                    const __m256 late = _mm256_castsi256_ps(_mm256_cmpgt_epi32(ids[v], last));
                    stays[v] = _mm256_or_ps(_mm256_cmp_ps(x[v], logit, _CMP_GT_OQ),
                                            _mm256_andnot_ps(late, _mm256_cmp_ps(x[v], logit, _CMP_EQ_OQ)));
                    stays[v] = _mm256_and_ps(stays[v], _mm256_cmp_ps(x[v], least, _CMP_GE_OQ));
                    any |= _mm256_movemask_ps(stays[v]);
                }
                if (!any) continue;
                float drawn[32];
                drawn_block(seed, position, first, drawn);
                UNROLL for (int v = 0; v < 4; v++) {
                    const __m256 value = _mm256_add_ps(x[v], _mm256_loadu_ps(drawn + 8 * v));
                    const __m256 better = _mm256_and_ps(stays[v], _mm256_cmp_ps(value, values, _CMP_GT_OQ));
                    values = _mm256_blendv_ps(values, value, better);
                    tokens = _mm256_blendv_epi8(tokens, ids[v], _mm256_castps_si256(better));
                }
            }
        }
        float found[8];
        int32_t at[8];
        _mm256_storeu_ps(found, values);
        _mm256_storeu_si256((__m256i *)at, tokens);
        _Pragma("omp critical") for (int i = 0; i < 8; i++) {
            if (at[i] < 0 || found[i] < best || (found[i] == best && at[i] > token)) continue;
            best = found[i];
            token = at[i];
        }
    }
    return token;
}

/* The token that wins `row` [size]: its logit over `temperature` plus its noise is the largest, of those in the nucleus of
   `top_p` (1: all) and at most `depth` below the largest. -1 where a logit is no number or the largest is none, -2
   without memory. */
TARGET long choose(const float *row, long size, float temperature, double top_p, float depth, uint64_t seed,
                   uint64_t position, int threads) {
    const __m256 by = _mm256_set1_ps(temperature);
    const Border none = {.logit = -INFINITY, .last = size};
    const float top = largest(row, size, by), lowest = top - depth;
    if (!isfinite(top)) return -1;
    if (top_p >= 1) return best_inside(row, size, by, none, lowest, seed, position, threads);
    /* The winner of more than the nucleus is most often inside it, and that is seen without its border. */
    const float surely = top + logf(even_share(size, top_p));
    const long token = best_inside(row, size, by, none, surely > lowest ? surely : lowest, seed, position, threads);
    if (token >= 0 && is_inside(row, size, by, top, top_p, token)) return token;
    Border border;
    if (!nucleus_border(row, size, by, top, top_p, &border)) return -2;
    return best_inside(row, size, by, border, lowest, seed, position, threads);
}

/* The ids of the nucleus, ascending, into ids [size + 1]; their number. -1 where a logit is no number or the largest is none,
   -2 without memory. */
TARGET long nucleus(const float *row, long size, double top_p, int64_t *ids) {
    const __m256 by = _mm256_set1_ps(1);
    const float top = largest(row, size, by);
    if (!isfinite(top)) return -1;
    Border border;
    if (!nucleus_border(row, size, by, top, top_p, &border)) return -2;
    long count = 0;
    for (long i = 0; i < size; i++) {
        ids[count] = i;
        count += row[i] > border.logit || (row[i] == border.logit && i <= border.last);
    }
    return count;
}
