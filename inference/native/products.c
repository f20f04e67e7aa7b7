/* Products on a CPU with AVX2: weights are read as they are stored, with few rows once, at the speed of the memory.

   A dense product takes weights of 16 or 32 bits; a low-bit product (low_bits.c) takes packed indices of 2, 3 or 4 bits
   (quantize/pack.py) and activations of 8 bits. All sums are kept per output and row, in an order that depends on the
   number of columns only, so a row has the same bits whatever rows are beside it and however many threads compute.
   Where there is AVX-512, two outputs lie side by side in a register: the same sums, so the same bits.
   Knows nothing of Python. */

#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define TARGET_WIDE __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define INLINE_WIDE static inline __attribute__((always_inline)) TARGET_WIDE
#define UNROLL _Pragma("GCC unroll 64")

/* Bytes that are asked for ahead of where a thread reads; four kilobytes were slower, none too. */
#define AHEAD 2048

/* Whether registers of 512 bits are used. */
static int is_wide;

/* Use them from now on, or no longer; whether they are used now. Not while products are under way. */
int products_widen(int wanted) {
    __builtin_cpu_init();
    is_wide = wanted && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512vnni");
    return is_wide;
}

int products_work(void) {
    products_widen(1);
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

/* The last columns, fewer than eight, and the bias. */
INLINE void finish(int kind, int rows, int outs, float *found, const char *weights, const float *x, const float *bias,
                   float *out, long in, long n) {
    const long width = kind == 2 ? 4 : 2;
    for (long k = in & ~7L; k < in; k++)
        for (int r = 0; r < rows; r++)
            for (int o = 0; o < outs; o++)
                found[r * outs + o] += one(kind, weights + (o * in + k) * width) * x[r * in + k];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int o = 0; o < outs; o++)
        out[r * n + o] = bias ? found[r * outs + o] + bias[o] : found[r * outs + o];
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
    finish(kind, rows, outs, found, weights, x, bias, out, in, n);
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
    TILE(KIND, 1, 1) TILE(KIND, 2, 1) TILE(KIND, 3, 1) TILE(KIND, 4, 1) TILE(KIND, 5, 1) TILE(KIND, 6, 1)             \
    TILE(KIND, 1, 8) TILE(KIND, 2, 4) TILE(KIND, 3, 3) TILE(KIND, 4, 3) TILE(KIND, 5, 2)                              \
    static Tile *const single_##KIND[] = {0, tile_##KIND##_1_1, tile_##KIND##_2_1, tile_##KIND##_3_1,                 \
                                          tile_##KIND##_4_1, tile_##KIND##_5_1, tile_##KIND##_6_1};                   \
    static Tile *const several_##KIND[] = {0, tile_##KIND##_1_8, tile_##KIND##_2_4, tile_##KIND##_3_3,                \
                                        tile_##KIND##_4_3, tile_##KIND##_5_2};
TILES(0) TILES(1) TILES(2)

/* Eight weights of an output, and of the next one beside them. */
INLINE_WIDE __m512 eight_of_two(int kind, const char *weights, long stride) {
    const char *next = weights + stride;
    if (kind == 2)
        return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps((const float *)weights)),
                                  _mm256_loadu_ps((const float *)next), 1);
    const __m256i halves = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)weights)),
                                                   _mm_loadu_si128((const __m128i *)next), 1);
    if (kind == 1) return _mm512_cvtph_ps(halves);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

#define WIDE_OUTS 8

/* As tile(), for an even number of outputs and a multiple of four sums. */
INLINE_WIDE void wide_tile(int kind, int rows, int outs, const char *weights, const float *x, const float *bias,
                           float *out, long in, long n, const char *ahead, long step) {
    const long width = kind == 2 ? 4 : 2, stride = in * width;
    __m512 sums[24];
    UNROLL for (int i = 0; i < rows * outs / 2; i++) sums[i] = _mm512_setzero_ps();
    const char *w = weights;
    const float *values = x, *end = x + (in & ~7L);
    for (; values < end; values += 8, w += 8 * width, ahead += step) {
        __m512 value[6];
        UNROLL for (int r = 0; r < rows; r++) value[r] = _mm512_broadcast_f32x8(_mm256_loadu_ps(values + r * in));
        UNROLL for (int line = 0; line < 8 * outs * width; line += 64) _mm_prefetch(ahead + line, _MM_HINT_T0);
        UNROLL for (int o = 0; o < outs / 2; o++) {
            const __m512 v = eight_of_two(kind, w + 2 * o * stride, stride);
            UNROLL for (int r = 0; r < rows; r++)
                sums[r * outs / 2 + o] = _mm512_fmadd_ps(v, value[r], sums[r * outs / 2 + o]);
        }
    }
    __m256 halves[48];
    UNROLL for (int i = 0; i < rows * outs / 2; i++) {
        halves[2 * i] = _mm512_castps512_ps256(sums[i]);
        halves[2 * i + 1] = _mm512_extractf32x8_ps(sums[i], 1);
    }
    float found[48];
    UNROLL for (int i = 0; i < rows * outs; i += 4) _mm_storeu_ps(found + i, four_sums(halves + i));
    finish(kind, rows, outs, found, weights, x, bias, out, in, n);
}

#define WIDE_TILE(KIND, ROWS)                                                                                         \
    TARGET_WIDE static __attribute__((noinline)) void wide_tile_##KIND##_##ROWS(                                      \
        const char *weights, const float *x, const float *bias, float *out, long in, long n, const char *ahead,       \
        long step) {                                                                                                  \
        wide_tile(KIND, ROWS, WIDE_OUTS, weights, x, bias, out, in, n, ahead, step);                                  \
    }
#define WIDE_TILES(KIND)                                                                                              \
    WIDE_TILE(KIND, 1) WIDE_TILE(KIND, 2) WIDE_TILE(KIND, 3) WIDE_TILE(KIND, 4) WIDE_TILE(KIND, 5) WIDE_TILE(KIND, 6) \
    static Tile *const wide_##KIND[] = {0, wide_tile_##KIND##_1, wide_tile_##KIND##_2, wide_tile_##KIND##_3,          \
                                          wide_tile_##KIND##_4, wide_tile_##KIND##_5, wide_tile_##KIND##_6};
WIDE_TILES(0) WIDE_TILES(1) WIDE_TILES(2)

/* Outputs that a tile of several has, by rows: with its sums and weights they fill the registers. Wide ones have eight. */
static const int OUTS[] = {0, 8, 4, 3, 3, 2};

/* Outputs that a thread takes at a time: a multiple of all widths of tiles. */
#define BLOCK 24

/* Rows of the next tile when so many are left: as even as can be, or fours, and threes before one or two would be left. */
static inline long taken(long left) {
    if (is_wide) return (left - 1) / ((left + 5) / 6) + 1;
    return left <= 5 ? left : left == 6 || left == 9 ? 3 : 4;
}

/* One block of outputs. Where it takes several tiles of rows, the next block is asked for evenly over all of them:
   otherwise the first waits for the memory and the memory waits for the others. */
static void block(long width, Tile *const *several, Tile *const *single, const char *w, const float *x,
                  const float *bias, float *y, long outs, long n, long in, long rows) {
    const long stride = in * width;
    long groups = 0;
    for (long r = 0; r < rows; r += taken(rows - r)) groups++;
    const char *ahead = w + BLOCK * stride;
    for (long r = 0, count; r < rows; r += count) {
        count = taken(rows - r);
        const long at_once = is_wide ? WIDE_OUTS : OUTS[count], step = (8 * at_once * width + groups - 1) / groups;
        for (long o = 0; o < outs;) {
            const long some = outs - o < at_once ? 1 : at_once;
            (some == 1 ? single : several)[count](w + o * stride, x + r * in, bias ? bias + o : 0, y + r * n + o, in, n,
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
            block(width, is_wide ? wide_##KIND : several_##KIND, single_##KIND, weights + first * in * width, x,      \
                  bias ? bias + first : 0, out + first, outs, n, in, rows);                                           \
        }                                                                                                             \
    }

/* weights [n, in], x float32 [rows, in], bias float32 [n] or null, out float32 [rows, n]; all contiguous. */
DENSE(dense_bfloat16, 0)
DENSE(dense_float16, 1)
DENSE(dense_float32, 2)
