/* Products on a CPU with AVX2: weights are read as they are stored, with few rows once, at the speed of the memory.

   A dense product takes weights of 16 or 32 bits; a low-bit product takes packed indices of 2, 3 or 4 bits
   (quantize/pack.py) and activations of 8 bits. All sums are kept per output and row, in an order that depends on the
   number of columns only, so a row has the same bits whatever rows are beside it and however many threads compute.
   Knows nothing of Python. */

#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define UNROLL _Pragma("GCC unroll 16")

/* Bytes that are asked for ahead of where a thread reads; four kilobytes were slower, none too. */
#define AHEAD 2048

int products_work(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

INLINE float sum(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* Eight weights as floats: of bfloat16 (0), float16 (1), float32 (2). */
INLINE __m256 eight(int kind, const char *weights) {
    if (kind == 2) return _mm256_loadu_ps((const float *)weights);
    __m128i half = _mm_loadu_si128((const __m128i *)weights);
    if (kind == 1) return _mm256_cvtph_ps(half);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}

INLINE float one(int kind, const char *weight) {
    if (kind == 2) return *(const float *)weight;
    uint16_t half = *(const uint16_t *)weight;
    if (kind == 1) return _cvtsh_ss(half);
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* The sums of four vectors, each as sum() takes it. */
INLINE __m128 four_sums(const __m256 *v) {
    __m128 s[4];
    UNROLL for (int i = 0; i < 4; i++)
        s[i] = _mm_add_ps(_mm256_castps256_ps128(v[i]), _mm256_extractf128_ps(v[i], 1));
    const __m128 a = _mm_add_ps(_mm_movelh_ps(s[0], s[1]), _mm_movehl_ps(s[1], s[0]));
    const __m128 b = _mm_add_ps(_mm_movelh_ps(s[2], s[3]), _mm_movehl_ps(s[3], s[2]));
    return _mm_add_ps(_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xDD));
}

/* ROWS rows of x times OUTS outputs. `ahead` is asked for meanwhile, `step` bytes further with every eight columns. */
INLINE void tile(int kind, int rows, int outs, const char *weights, const float *x, const float *bias, float *out,
                 long in, long n, const char *ahead, long step) {
    const long width = kind == 2 ? 4 : 2, stride = in * width;
    __m256 sums[16];
    UNROLL for (int i = 0; i < rows * outs; i++) sums[i] = _mm256_setzero_ps();
    const char *w = weights;
    const float *values = x, *end = x + (in & ~7L);
    for (; values < end; values += 8, w += 8 * width, ahead += step) {
        __m256 v[8];
        UNROLL for (int o = 0; o < outs; o++) v[o] = eight(kind, w + o * stride);
        UNROLL for (int line = 0; line < 8 * outs * width; line += 64) _mm_prefetch(ahead + line, _MM_HINT_T0);
        UNROLL for (int r = 0; r < rows; r++) {
            const __m256 value = _mm256_loadu_ps(values + r * in);
            UNROLL for (int o = 0; o < outs; o++)
                sums[r * outs + o] = _mm256_fmadd_ps(v[o], value, sums[r * outs + o]);
        }
    }
    float found[16];
    UNROLL for (int i = 0; i + 4 <= rows * outs; i += 4) _mm_storeu_ps(found + i, four_sums(sums + i));
    UNROLL for (int i = rows * outs / 4 * 4; i < rows * outs; i++) found[i] = sum(sums[i]);
    for (long k = in & ~7L; k < in; k++)
        for (int r = 0; r < rows; r++)
            for (int o = 0; o < outs; o++)
                found[r * outs + o] += one(kind, weights + o * stride + k * width) * x[r * in + k];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int o = 0; o < outs; o++)
        out[r * n + o] = bias ? found[r * outs + o] + bias[o] : found[r * outs + o];
}

typedef void Tile(const char *, const float *, const float *, float *, long, long, const char *, long);

/* Each by itself: within one function the compiler has too few registers for all their addresses. */
#define TILE(KIND, ROWS, OUTS)                                                                                        \
    TARGET static __attribute__((noinline)) void tile_##KIND##_##ROWS##_##OUTS(                                       \
        const char *weights, const float *x, const float *bias, float *out, long in, long n, const char *ahead,       \
        long step) {                                                                                                  \
        tile(KIND, ROWS, OUTS, weights, x, bias, out, in, n, ahead, step);                                            \
    }
#define TILES(KIND)                                                                                                   \
    TILE(KIND, 1, 1) TILE(KIND, 2, 1) TILE(KIND, 3, 1) TILE(KIND, 4, 1) TILE(KIND, 5, 1)                              \
    TILE(KIND, 1, 8) TILE(KIND, 2, 4) TILE(KIND, 3, 3) TILE(KIND, 4, 3) TILE(KIND, 5, 2)                              \
    static Tile *const narrow_##KIND[] = {0, tile_##KIND##_1_1, tile_##KIND##_2_1, tile_##KIND##_3_1,                 \
                                          tile_##KIND##_4_1, tile_##KIND##_5_1};                                        \
    static Tile *const wide_##KIND[] = {0, tile_##KIND##_1_8, tile_##KIND##_2_4, tile_##KIND##_3_3,                   \
                                        tile_##KIND##_4_3, tile_##KIND##_5_2};
TILES(0) TILES(1) TILES(2)

/* Outputs that a wide tile of so many rows has; with its sums and weights they fill the registers. */
static const int OUTS[] = {0, 8, 4, 3, 3, 2};

/* Outputs that a thread takes at a time: a multiple of all widths of tiles. */
#define BLOCK 24

/* Rows of the next tile when so many are left: fours, and threes before one or two would be left. */
static inline long taken(long left) {
    return left <= 5 ? left : left == 6 || left == 9 ? 3 : 4;
}

/* One block of outputs. Where it takes several tiles of rows, the next block is asked for evenly over all of them:
   otherwise the first waits for the memory and the memory waits for the others. */
static void block(long width, Tile *const *wide, Tile *const *narrow, const char *w, const float *x,
                  const float *bias, float *y, long outs, long n, long in, long rows) {
    const long stride = in * width;
    long groups = 0;
    for (long r = 0; r < rows; r += taken(rows - r)) groups++;
    const char *ahead = w + BLOCK * stride;
    for (long r = 0, count; r < rows; r += count) {
        count = taken(rows - r);
        const long at_once = OUTS[count], step = (8 * at_once * width + groups - 1) / groups;
        for (long o = 0; o < outs;) {
            const long some = outs - o < at_once ? 1 : at_once;
            (some == 1 ? narrow : wide)[count](w + o * stride, x + r * in, bias ? bias + o : 0, y + r * n + o, in, n,
                                               groups == 1 ? w + (o + some) * stride + AHEAD : ahead, step);
            ahead += step * (in / 8);
            o += some;
        }
    }
}

#define DENSE(NAME, KIND)                                                                                             \
    void NAME(const char *weights, const float *x, const float *bias, float *out, long n, long in, long rows,         \
              int threads) {                                                                                          \
        const long blocks = (n + BLOCK - 1) / BLOCK, width = KIND == 2 ? 4 : 2;                                       \
        _Pragma("omp parallel for schedule(static) num_threads(threads)") for (long b = 0; b < blocks; b++) {         \
            const long first = b * BLOCK, outs = n - first < BLOCK ? n - first : BLOCK;                               \
            block(width, wide_##KIND, narrow_##KIND, weights + first * in * width, x, bias ? bias + first : 0,        \
                  out + first, outs, n, in, rows);                                                                    \
        }                                                                                                             \
    }

/* weights [n, in], x float32 [rows, in], bias float32 [n] or null, out float32 [rows, n]; all contiguous. */
DENSE(dense_bfloat16, 0)
DENSE(dense_float16, 1)
DENSE(dense_float32, 2)

/* Low bits. Eight groups of 32 columns are worked at once, one in each lane of 32 bits: of weight 8 q + j (nibble j of
   selector q) its byte lies in vector 2 q + (j & 1), lane group % 8, byte j / 2. */

#define GROUPS 8
#define CHUNK (32 * GROUPS)

/* x float32 [in] to int8 [chunks, 8, 8, 4] with a scale a group, over `divisor`, and the sum of each group's rounded
   values times its scale, [8 chunks] each. A group that is no number is zeros with a scale that is none. */
INLINE void round_row(const float *x, int8_t *rounded, float *scales, float *sums, long in, float divisor) {
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
        sums[g] = !is_number ? NAN : is_zero ? 0 : scale * sum(_mm256_cvtepi32_ps(total));
    }
}

INLINE __m256i selectors(__m256i word, int shift, int mask) {
    return _mm256_and_si256(shift ? _mm256_srli_epi32(word, shift) : word, _mm256_set1_epi8(mask));
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
    long groups;
    __m256i table;
    __m256 step, low;
} Output;

/* Eight groups of one output with `rows` rows, added to `sums`. Whole numbers within a group are exact, so only the
   sums over groups have an order. Even levels are step * index + low: indices are multiplied as they are, and eight
   products of two fit into 16 bits. Others are looked up, with their signs given to the activations. */
INLINE void chunk(int bits, long per, int even, int rows, const Output *of, long c, long left, __m256 *sums) {
    const long first = c * GROUPS, chunks = (of->groups + GROUPS - 1) / GROUPS;
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i w[8];
    indices(bits, of->words + first, of->groups, left, w);
    _mm_prefetch((const char *)(of->words + bits * (of->groups + first)) + AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)(of->words + bits * (of->groups + first)) + AHEAD + 64, _MM_HINT_T0);
    __m256 scale = spread(per, of->scales + first / per, left), offset = _mm256_setzero_ps();
    if (of->offsets) offset = spread(per, of->offsets + first / per, left);
    if (even) {
        offset = _mm256_fmadd_ps(scale, of->low, offset);
        scale = _mm256_mul_ps(scale, of->step);
    } else {
        UNROLL for (int v = 0; v < 8; v++) w[v] = _mm256_shuffle_epi8(of->table, w[v]);
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

INLINE void output(int bits, long per, int even, int rows, const Output *of, float *out, long n) {
    __m256 sums[4];
    UNROLL for (int r = 0; r < rows; r++) sums[r] = _mm256_setzero_ps();
    long c = 0;
    for (; (c + 1) * GROUPS <= of->groups; c++) chunk(bits, per, even, rows, of, c, GROUPS, sums);
    if (c * GROUPS < of->groups) chunk(bits, per, even, rows, of, c, of->groups - c * GROUPS, sums);
    UNROLL for (int r = 0; r < rows; r++) out[r * n] = sum(sums[r]);
}

INLINE void outputs(int bits, long per, int even, Output of, const int8_t *table, float *out, long n, long rows,
                    long first, long last, float divisor) {
    const long blocks = of.groups / per, chunks = (of.groups + GROUPS - 1) / GROUPS;
    const int8_t *x = of.x;
    const float *x_scales = of.x_scales, *x_sums = of.x_sums;
    of.table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
    of.step = _mm256_set1_ps(table[1] - table[0]);
    of.low = _mm256_set1_ps(table[0] / divisor);
    of.words += first * bits * of.groups;
    of.scales += first * blocks;
    if (of.offsets) of.offsets += first * blocks;
    for (long o = first; o < last; o++) {
#define ROWS(COUNT)                                                                                                    \
    of.x = x + r * chunks * CHUNK, of.x_scales = x_scales + r * chunks * GROUPS,                                      \
    of.x_sums = x_sums + r * chunks * GROUPS, output(bits, per, even, COUNT, &of, out + r * n + o, n)
        long r = 0;
        for (; r + 4 <= rows; r += 4) ROWS(4);
            for (; r < rows; r++) ROWS(1);
#undef ROWS
        of.words += bits * of.groups;
        of.scales += blocks;
        if (of.offsets) of.offsets += blocks;
    }
}

/* words [outs, bits, groups], scales and offsets (or null) bfloat16 [outs, groups / per], table int8 [16] of levels over
   `divisor`, x float32 [rows, in]; out float32, `n` from row to row. Blocks are of one group or two; the levels of EVEN
   ones have the same distance. Seven scales and offsets beyond the last are read, and left alone. Zero when there was no memory for the rounded rows. */
#define LOW_BIT(NAME, BITS, EVEN)                                                                                      \
    TARGET int NAME(const uint32_t *words, const uint16_t *scales, const uint16_t *offsets, const int8_t *table,      \
                    const float *x, float *out, long outs, long n, long in, long rows, long groups, long per,         \
                    int threads, float divisor) {                                                                     \
        const long blocks = (outs + BLOCK - 1) / BLOCK, chunks = (groups + GROUPS - 1) / GROUPS;                      \
        int8_t *rounded = malloc(rows * chunks * (CHUNK + 2 * GROUPS * sizeof(float)));                               \
        if (!rounded) return 0;                                                                                       \
        float *x_scales = (float *)(rounded + rows * chunks * CHUNK), *x_sums = x_scales + rows * chunks * GROUPS;    \
        for (long r = 0; r < rows; r++)                                                                               \
            round_row(x + r * in, rounded + r * chunks * CHUNK, x_scales + r * chunks * GROUPS,                       \
                      x_sums + r * chunks * GROUPS, in, divisor);                                                     \
        _Pragma("omp parallel for schedule(static) num_threads(threads)") for (long b = 0; b < blocks; b++) {         \
            const Output of = {.words = words, .scales = scales, .offsets = offsets, .x = rounded,                    \
                               .x_scales = x_scales, .x_sums = x_sums, .groups = groups};                             \
            const long first = b * BLOCK, last = first + BLOCK < outs ? first + BLOCK : outs;                         \
            outputs(BITS, per, EVEN, of, table, out, n, rows, first, last, divisor);                                  \
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
