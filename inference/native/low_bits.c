/* Products with weights in low bits. Eight groups of 32 columns are worked at once, one in each lane of 32 bits: of
   weight 8 q + j (nibble j of selector q) its byte lies in vector 2 q + (j & 1), lane group % 8, byte j / 2. */

#define GROUPS 8
#define CHUNK (32 * GROUPS)

/* x float32 [in] to int8 [chunks, 8, 8, 4] with a scale a group, over `divisor`, the sum of each group's rounded values,
   and that times the scale, [8 chunks] each. A group that is no number is zeros with a scale that is none. */
INLINE void round_row(const float *x, int8_t *rounded, float *scales, int32_t *totals, float *sums, long in,
                      float divisor) {
    const long all = (in + CHUNK - 1) / CHUNK * GROUPS;
    const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    const __m256i pairs = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (long g = 0; g < all; g++) {
        const long left = in - g * 32;
        float some[32] = {0};
        const float *values = x + g * 32;
        if (left < 32) {
            if (left > 0) memcpy(some, values, 4 * left);
            values = some;
        }
        __m256 v[4], size[4];
        UNROLL for (int i = 0; i < 4; i++) {
            v[i] = _mm256_loadu_ps(values + 8 * i);
            size[i] = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v[i]);
        }
        __m256 largest = _mm256_max_ps(_mm256_max_ps(size[0], size[1]), _mm256_max_ps(size[2], size[3]));
        __m256 all_of = _mm256_add_ps(_mm256_add_ps(size[0], size[1]), _mm256_add_ps(size[2], size[3]));
        __m128 four = _mm_max_ps(_mm256_castps256_ps128(largest), _mm256_extractf128_ps(largest, 1));
        four = _mm_max_ps(four, _mm_movehl_ps(four, four));
        float scale = _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four))) / 127;
        const float inverse = 1 / scale;
        const int is_number = isfinite(sum(all_of)) || (isfinite(scale) && !isnan(sum(all_of)));
        const int is_zero = !is_number || isinf(inverse);
        __m256i whole[4];
        UNROLL for (int i = 0; i < 4; i++)
            whole[i] = is_zero ? _mm256_setzero_si256()
                               : _mm256_cvtps_epi32(_mm256_mul_ps(v[i], _mm256_set1_ps(inverse)));
        __m256i total = _mm256_add_epi32(_mm256_add_epi32(whole[0], whole[1]), _mm256_add_epi32(whole[2], whole[3]));
        __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]),
                                           _mm256_packs_epi32(whole[2], whole[3]));
        bytes = _mm256_permutevar8x32_epi32(bytes, pairs);  /* packing left every second four of them */
        bytes = _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order));
        int32_t fours[8];
        _mm256_storeu_si256((__m256i *)fours, bytes);
        int8_t *there = rounded + g / GROUPS * CHUNK + g % GROUPS * 4;
        UNROLL for (int i = 0; i < 8; i++) memcpy(there + i * 32, &fours[i], 4);
        scales[g] = !is_number ? NAN : is_zero ? 0 : scale / divisor;
        totals[g] = (int32_t)sum(_mm256_cvtepi32_ps(total));
        sums[g] = !is_number ? NAN : is_zero ? 0 : scale * totals[g];
    }
}

/* All ones in the lanes of the groups that are there. */
INLINE __m256i there(long left) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)left), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The indices of 256 weights: vectors of bytes as above. `words` [bits, groups] of one output; `left` groups are there,
   the others are zeros. */
INLINE void indices(int bits, const uint32_t *words, long groups, long left, __m256i *found) {
    __m256i q[4];
    UNROLL for (int b = 0; b < bits; b++) {
        if (left >= GROUPS) q[b] = _mm256_loadu_si256((const __m256i *)(words + b * groups));
        else q[b] = _mm256_maskload_epi32((const int *)(words + b * groups), there(left));
    }
    if (bits == 2) {
        q[2] = _mm256_srli_epi32(q[0], 2);
        q[3] = _mm256_srli_epi32(q[1], 2);
    }
    if (bits == 3) {
        const __m256i tops = _mm256_set1_epi32(0x11111111);
        __m256i low = _mm256_and_si256(_mm256_srli_epi32(q[0], 3), tops);
        __m256i middle = _mm256_and_si256(_mm256_srli_epi32(q[1], 2), _mm256_slli_epi32(tops, 1));
        __m256i high = _mm256_and_si256(_mm256_srli_epi32(q[2], 1), _mm256_slli_epi32(tops, 2));
        q[3] = _mm256_or_si256(low, _mm256_or_si256(middle, high));
    }
    const __m256i mask = _mm256_set1_epi8((1 << bits) - 1);
    UNROLL for (int v = 0; v < 8; v++)
        found[v] = _mm256_and_si256(v & 1 ? _mm256_srli_epi32(q[v / 2], 4) : q[v / 2], mask);
}

/* Eight scales or offsets, one a group, of blocks of `per` groups; zeros for groups that are not there. */
INLINE __m256 spread(long per, const uint16_t *scales, long left) {
    __m128i found;
    if (per == 1) {
        found = _mm_loadu_si128((const __m128i *)scales);
    } else {
        found = _mm_loadl_epi64((const __m128i *)scales);
        found = _mm_unpacklo_epi16(found, found);
    }
    __m256i wide = _mm256_slli_epi32(_mm256_cvtepu16_epi32(found), 16);
    if (left < GROUPS) wide = _mm256_and_si256(wide, there(left));
    return _mm256_castsi256_ps(wide);
}

typedef struct {
    const uint32_t *words;
    const uint16_t *scales, *offsets;
    const int8_t *x;
    const float *x_scales, *x_sums;
    const int32_t *x_totals;
    long groups, per;
    const int8_t *table;
    float step, low;
} Output;

/* Eight groups of one output with `rows` rows, added to `sums`. Whole numbers within a group are exact, so only the
   sums over groups have an order. Even levels are step * index + low: indices are multiplied as they are, and eight
   products of two fit into 16 bits. Others are looked up, with their signs given to the activations. */
INLINE void chunk(int bits, int even, int rows, const Output *of, long c, long left, __m256 *sums) {
    const long first = c * GROUPS, chunks = (of->groups + GROUPS - 1) / GROUPS;
    const __m256i ones = _mm256_set1_epi16(1);
    const long per = of->per;
    __m256i w[8];
    indices(bits, of->words + first, of->groups, left, w);
    _mm_prefetch((const char *)(of->words + bits * (of->groups + first)) + AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)(of->words + bits * (of->groups + first)) + AHEAD + 64, _MM_HINT_T0);
    __m256 scale = spread(per, of->scales + (first >> (per - 1)), left), offset = _mm256_setzero_ps();
    if (of->offsets) offset = spread(per, of->offsets + (first >> (per - 1)), left);
    if (even) {
        offset = _mm256_fmadd_ps(scale, _mm256_set1_ps(of->low), offset);
        scale = _mm256_mul_ps(scale, _mm256_set1_ps(of->step));
    } else {
        const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)of->table));
        UNROLL for (int v = 0; v < 8; v++) w[v] = _mm256_shuffle_epi8(table, w[v]);
    }
    UNROLL for (int r = 0; r < rows; r++) {
        const __m256i *x = (const __m256i *)(of->x + (r * chunks + c) * CHUNK);
        __m256i whole = _mm256_setzero_si256();
        UNROLL for (int v = 0; v < 8; v++) {
            __m256i values = _mm256_loadu_si256(x + v);
            if (even) {
                whole = _mm256_add_epi16(whole, _mm256_maddubs_epi16(w[v], values));
            } else {
                values = _mm256_maddubs_epi16(_mm256_abs_epi8(w[v]), _mm256_sign_epi8(values, w[v]));
                whole = _mm256_add_epi32(whole, _mm256_madd_epi16(values, ones));
            }
        }
        if (even) whole = _mm256_madd_epi16(whole, ones);
        const long group = r * chunks * GROUPS + first;
        __m256 found = _mm256_mul_ps(_mm256_cvtepi32_ps(whole), _mm256_loadu_ps(of->x_scales + group));
        sums[r] = _mm256_fmadd_ps(found, scale, sums[r]);
        if (even || of->offsets) sums[r] = _mm256_fmadd_ps(_mm256_loadu_ps(of->x_sums + group), offset, sums[r]);
    }
}

INLINE void output(int bits, int even, int rows, const Output *of, float *out, long n) {
    __m256 sums[4];
    UNROLL for (int r = 0; r < rows; r++) sums[r] = _mm256_setzero_ps();
    long c = 0;
    for (; (c + 1) * GROUPS <= of->groups; c++) chunk(bits, even, rows, of, c, GROUPS, sums);
    if (c * GROUPS < of->groups) chunk(bits, even, rows, of, c, of->groups - c * GROUPS, sums);
    UNROLL for (int r = 0; r < rows; r++) out[r * n] = sum(sums[r]);
}

/* The same of two outputs side by side. */

INLINE_WIDE __m512i both(__m256i one, __m256i next) { return _mm512_inserti64x4(_mm512_castsi256_si512(one), next, 1); }

INLINE_WIDE __m512 spread_of_two(long per, const uint16_t *scales, long blocks, long left) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(spread(per, scales, left)), spread(per, scales + blocks, left), 1);
}

/* Of even levels every second vector holds sixteen times the index. */
INLINE_WIDE void indices_of_two(int bits, int even, const uint32_t *words, long groups, long left, __m512i *found) {
    const long next = bits * groups;
    __m512i q[4];
    UNROLL for (int b = 0; b < bits; b++) {
        const int *of = (const int *)words + b * groups;
        if (left >= GROUPS) q[b] = both(_mm256_loadu_si256((const __m256i *)of), _mm256_loadu_si256((const __m256i *)(of + next)));
        else q[b] = both(_mm256_maskload_epi32(of, there(left)), _mm256_maskload_epi32(of + next, there(left)));
    }
    if (bits == 2) {
        q[2] = _mm512_srli_epi32(q[0], 2);
        q[3] = _mm512_srli_epi32(q[1], 2);
    }
    if (bits == 3) {
        const __m512i tops = _mm512_set1_epi32(0x11111111);
        const __m512i low = _mm512_and_si512(_mm512_srli_epi32(q[0], 3), tops);
        const __m512i middle = _mm512_and_si512(_mm512_srli_epi32(q[1], 2), _mm512_slli_epi32(tops, 1));
        const __m512i high = _mm512_and_si512(_mm512_srli_epi32(q[2], 1), _mm512_slli_epi32(tops, 2));
        q[3] = _mm512_or_si512(low, _mm512_or_si512(middle, high));
    }
    const __m512i mask = _mm512_set1_epi8((1 << bits) - 1), upper = _mm512_slli_epi32(mask, 4);
    UNROLL for (int v = 0; v < 8; v += 2) {
        found[v] = _mm512_and_si512(q[v / 2], mask);
        found[v + 1] = even ? _mm512_and_si512(q[v / 2], upper) : _mm512_and_si512(_mm512_srli_epi32(q[v / 2], 4), mask);
    }
}

/* Bytes without a sign times bytes with one, four products to a sum. Levels get 128 added for it, which the sum of the
   activations takes away again. */
INLINE_WIDE void chunk_of_two(int bits, int even, int rows, const Output *of, long c, long left, __m512 *sums) {
    const long first = c * GROUPS, chunks = (of->groups + GROUPS - 1) / GROUPS, per = of->per;
    const long next = bits * of->groups, blocks = of->groups >> (per - 1);
    __m512i w[8];
    indices_of_two(bits, even, of->words + first, of->groups, left, w);
    UNROLL for (int line = 0; line < 4; line++)
        _mm_prefetch((const char *)(of->words + 2 * next + 2 * bits * first) + AHEAD + 64 * line, _MM_HINT_T0);
    __m512 scale = spread_of_two(per, of->scales + (first >> (per - 1)), blocks, left), offset = _mm512_setzero_ps();
    if (of->offsets) offset = spread_of_two(per, of->offsets + (first >> (per - 1)), blocks, left);
    if (even) {
        offset = _mm512_fmadd_ps(scale, _mm512_set1_ps(of->low), offset);
        scale = _mm512_mul_ps(scale, _mm512_set1_ps(of->step));
    } else {
        const __m128i raised = _mm_xor_si128(_mm_loadu_si128((const __m128i *)of->table), _mm_set1_epi8((char)128));
        const __m512i table = _mm512_broadcast_i32x4(raised);
        UNROLL for (int v = 0; v < 8; v++) w[v] = _mm512_shuffle_epi8(table, w[v]);
    }
    UNROLL for (int r = 0; r < rows; r++) {
        const __m256i *x = (const __m256i *)(of->x + (r * chunks + c) * CHUNK);
        const long group = r * chunks * GROUPS + first;
        __m512i some[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        UNROLL for (int v = 0; v < 8; v++)
            some[v & 1] = _mm512_dpbusd_epi32(some[v & 1], w[v], _mm512_broadcast_i64x4(_mm256_loadu_si256(x + v)));
        __m512i whole = _mm512_add_epi32(some[0], even ? _mm512_srai_epi32(some[1], 4) : some[1]);
        if (!even) {
            const __m256i total = _mm256_loadu_si256((const __m256i *)(of->x_totals + group));
            whole = _mm512_sub_epi32(whole, _mm512_slli_epi32(_mm512_broadcast_i64x4(total), 7));
        }
        const __m512 found = _mm512_mul_ps(_mm512_cvtepi32_ps(whole),
                                           _mm512_broadcast_f32x8(_mm256_loadu_ps(of->x_scales + group)));
        sums[r] = _mm512_fmadd_ps(found, scale, sums[r]);
        if (even || of->offsets)
            sums[r] = _mm512_fmadd_ps(_mm512_broadcast_f32x8(_mm256_loadu_ps(of->x_sums + group)), offset, sums[r]);
    }
}

INLINE_WIDE void output_of_two(int bits, int even, int rows, const Output *of, float *out, long n) {
    __m512 sums[4];
    UNROLL for (int r = 0; r < rows; r++) sums[r] = _mm512_setzero_ps();
    long c = 0;
    for (; (c + 1) * GROUPS <= of->groups; c++) chunk_of_two(bits, even, rows, of, c, GROUPS, sums);
    if (c * GROUPS < of->groups) chunk_of_two(bits, even, rows, of, c, of->groups - c * GROUPS, sums);
    UNROLL for (int r = 0; r < rows; r++) {
        out[r * n] = sum(_mm512_castps512_ps256(sums[r]));
        out[r * n + 1] = sum(_mm512_extractf32x8_ps(sums[r], 1));
    }
}

/* The outputs from `first` on, `AT_ONCE` of them at a time; the first that is left. */
#define SOME(NAME, TARGETS, OUTPUT, AT_ONCE, BITS, EVEN)                                                              \
    TARGETS static __attribute__((noinline)) long NAME(const Output *all, float *out, long n, long rows, long first,  \
                                                       long last) {                                                   \
        const long blocks = all->groups >> (all->per - 1), chunks = (all->groups + GROUPS - 1) / GROUPS;              \
        for (; first + AT_ONCE <= last; first += AT_ONCE) {                                                           \
            Output of = *all;                                                                                         \
            of.words += first * BITS * of.groups;                                                                     \
            of.scales += first * blocks;                                                                              \
            if (of.offsets) of.offsets += first * blocks;                                                             \
            for (long r = 0, count; r < rows; r += count) {                                                           \
                count = rows - r < 4 ? 1 : 4;                                                                         \
                of.x = all->x + r * chunks * CHUNK;                                                                   \
                of.x_scales = all->x_scales + r * chunks * GROUPS;                                                    \
                of.x_sums = all->x_sums + r * chunks * GROUPS;                                                        \
                of.x_totals = all->x_totals + r * chunks * GROUPS;                                                    \
                if (count == 1) OUTPUT(BITS, EVEN, 1, &of, out + r * n + first, n);                                   \
                else OUTPUT(BITS, EVEN, 4, &of, out + r * n + first, n);                                              \
            }                                                                                                         \
        }                                                                                                             \
        return first;                                                                                                 \
    }

/* words [outs, bits, groups], scales and offsets (or null) bfloat16 [outs, groups / per], table int8 [16] of levels over
   `divisor`, x float32 [rows, in]; out float32, `n` from row to row. Blocks are of one group or two; the levels of EVEN
   ones have the same distance. Seven scales and offsets beyond the last are read, and left alone. Zero when there was no
   memory for the rounded rows. */
#define LOW_BIT(NAME, BITS, EVEN)                                                                                     \
    SOME(narrow_##NAME, TARGET, output, 1, BITS, EVEN)                                                                \
    SOME(wide_##NAME, TARGET_WIDE, output_of_two, 2, BITS, EVEN)                                                      \
    TARGET int NAME(const uint32_t *words, const uint16_t *scales, const uint16_t *offsets, const int8_t *table,      \
                    const float *x, float *out, long outs, long n, long in, long rows, long groups, long per,         \
                    int threads, float divisor) {                                                                     \
        const long blocks = (outs + BLOCK - 1) / BLOCK, chunks = (groups + GROUPS - 1) / GROUPS;                      \
        const long all = rows * chunks * GROUPS;                                                                      \
        int8_t *rounded = malloc(all * (32 + 2 * sizeof(float) + sizeof(int32_t)));                                   \
        if (!rounded) return 0;                                                                                       \
        float *x_scales = (float *)(rounded + all * 32), *x_sums = x_scales + all;                                    \
        int32_t *x_totals = (int32_t *)(x_sums + all);                                                                \
        for (long r = 0; r < rows; r++) {                                                                             \
            const long at = r * chunks * GROUPS;                                                                      \
            round_row(x + r * in, rounded + at * 32, x_scales + at, x_totals + at, x_sums + at, in, divisor);         \
        }                                                                                                             \
        const Output of = {words, scales, offsets, rounded, x_scales, x_sums, x_totals, groups, per, table,           \
                           table[1] - table[0], table[0] / divisor};                                                  \
        _Pragma("omp parallel for schedule(static) num_threads(threads)") for (long b = 0; b < blocks; b++) {         \
            const long last = (b + 1) * BLOCK < outs ? (b + 1) * BLOCK : outs;                                        \
            const long left = is_wide ? wide_##NAME(&of, out, n, rows, b * BLOCK, last) : b * BLOCK;                  \
            narrow_##NAME(&of, out, n, rows, left, last);                                                             \
        }                                                                                                             \
        free(rounded);                                                                                                \
        return 1;                                                                                                     \
    }

LOW_BIT(even_2, 2, 1)
LOW_BIT(even_3, 3, 1)
LOW_BIT(even_4, 4, 1)
LOW_BIT(free_2, 2, 0)
LOW_BIT(free_3, 3, 0)
LOW_BIT(free_4, 4, 0)
