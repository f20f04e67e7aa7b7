/* Gumbel noise keyed by seed, position and token: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
   1, 2, 3", 2011) under the key of the seed, at the counter (token / 4, position). Knows nothing of logits. */

INLINE void high_low(__m256i a, uint32_t b, __m256i *high, __m256i *low) {
    const __m256i by = _mm256_set1_epi32((int)b);
    const __m256i even = _mm256_mul_epu32(a, by), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), by);
    *low = _mm256_mullo_epi32(a, by);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}

/* Four random words for each of eight counters. */
INLINE void philox(__m256i counter, uint64_t position, uint64_t seed, __m256i *out) {
    __m256i a = counter, b = _mm256_setzero_si256();
    __m256i c = _mm256_set1_epi32((int)position), d = _mm256_set1_epi32((int)(position >> 32));
    uint32_t first = (uint32_t)seed, second = (uint32_t)(seed >> 32);
    UNROLL for (int round = 0; round < 10; round++) {
        __m256i high_a, low_a, high_c, low_c;
        high_low(a, 0xD2511F53u, &high_a, &low_a);
        high_low(c, 0xCD9E8D57u, &high_c, &low_c);
        a = _mm256_xor_si256(_mm256_xor_si256(high_c, b), _mm256_set1_epi32((int)first));
        b = low_c;
        c = _mm256_xor_si256(_mm256_xor_si256(high_a, d), _mm256_set1_epi32((int)second));
        d = low_a;
        first += 0x9E3779B9u;
        second += 0xBB67AE85u;
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

/* -log(-log(1 - t)) of the share t that a word is of all: a small t, which makes large noise, keeps all its digits. */
INLINE __m256 gumbel_of(__m256i word) {
    /* As two halves, since AVX2 turns signed words only into floats. */
    __m256 t = _mm256_cvtepi32_ps(_mm256_srli_epi32(word, 16));
    t = _mm256_fmadd_ps(t, _mm256_set1_ps(65536), _mm256_cvtepi32_ps(_mm256_and_si256(word, _mm256_set1_epi32(0xFFFF))));
    t = _mm256_mul_ps(_mm256_add_ps(t, _mm256_set1_ps(0.5f)), _mm256_set1_ps(0x1p-32f));
    t = _mm256_min_ps(t, _mm256_set1_ps(1 - 0x1p-24f));
    __m256 near = _mm256_set1_ps(1.0f / 7);
    near = _mm256_fmadd_ps(near, t, _mm256_set1_ps(1.0f / 6));
    near = _mm256_fmadd_ps(near, t, _mm256_set1_ps(1.0f / 5));
    near = _mm256_fmadd_ps(near, t, _mm256_set1_ps(1.0f / 4));
    near = _mm256_fmadd_ps(near, t, _mm256_set1_ps(1.0f / 3));
    near = _mm256_fmadd_ps(near, t, _mm256_set1_ps(1.0f / 2));
    near = _mm256_mul_ps(_mm256_fmadd_ps(near, t, _mm256_set1_ps(1)), t);
    const __m256 far = _mm256_sub_ps(_mm256_setzero_ps(), logarithm(_mm256_sub_ps(_mm256_set1_ps(1), t)));
    const __m256 drawn = _mm256_blendv_ps(far, near, _mm256_cmp_ps(t, _mm256_set1_ps(0.0625f), _CMP_LT_OQ));
    return _mm256_sub_ps(_mm256_setzero_ps(), logarithm(drawn));
}

/* Tokens drawn by a thread at a time. */
#define DRAWN 8192

/* The noise of 32 tokens from `first` on, a multiple of 32. */
INLINE void drawn_block(uint64_t seed, uint64_t position, long first, float *out) {
    __m256i words[4];
    __m256 parts[4];
    philox(_mm256_add_epi32(_mm256_set1_epi32((int)(first / 4)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), position, seed,
           words);
    UNROLL for (int w = 0; w < 4; w++) parts[w] = gumbel_of(words[w]);
    /* Word w of counter c is token 4 c + w: turned from four rows of eight to eight of four. */
    __m256 ab = _mm256_unpacklo_ps(parts[0], parts[1]), cd = _mm256_unpacklo_ps(parts[2], parts[3]);
    __m256 ef = _mm256_unpackhi_ps(parts[0], parts[1]), gh = _mm256_unpackhi_ps(parts[2], parts[3]);
    __m256 even[4] = {_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xEE),
                      _mm256_shuffle_ps(ef, gh, 0x44), _mm256_shuffle_ps(ef, gh, 0xEE)};
    UNROLL for (int i = 0; i < 4; i++) {
        _mm_storeu_ps(out + 4 * i, _mm256_castps256_ps128(even[i]));
        _mm_storeu_ps(out + 16 + 4 * i, _mm256_extractf128_ps(even[i], 1));
    }
}

/* Noise float32 [size] of the tokens from 0 on. */
TARGET void gumbel_all(uint64_t seed, uint64_t position, float *out, long size, int threads) {
    _Pragma("omp parallel for schedule(static) num_threads(threads)") for (long start = 0; start < size; start += DRAWN) {
        for (long first = start; first < size && first < start + DRAWN; first += 32) {
            float whole[32];
            drawn_block(seed, position, first, whole);
            memcpy(out + first, whole, 4 * (size - first < 32 ? size - first : 32));
        }
    }
}

/* The same of some tokens. */
TARGET void gumbel_some(uint64_t seed, uint64_t position, const int64_t *ids, float *out, long count, int threads) {
    _Pragma("omp parallel for schedule(static) num_threads(threads)") for (long start = 0; start < count; start += DRAWN) {
        for (long first = start; first < count && first < start + DRAWN; first += 8) {
            int32_t counters[8] = {0}, places[8] = {0};
            const long there = count - first < 8 ? count - first : 8;
            for (long i = 0; i < there; i++) {
                counters[i] = (int32_t)(ids[first + i] / 4);
                places[i] = (int32_t)(ids[first + i] % 4);
            }
            __m256i words[4];
            philox(_mm256_loadu_si256((const __m256i *)counters), position, seed, words);
            const __m256i place = _mm256_loadu_si256((const __m256i *)places);
            __m256i word = words[0];
            UNROLL for (int w = 1; w < 4; w++)
                word = _mm256_blendv_epi8(word, words[w], _mm256_cmpeq_epi32(place, _mm256_set1_epi32(w)));
            float whole[8];
            _mm256_storeu_ps(whole, gumbel_of(word));
            memcpy(out + first, whole, 4 * there);
        }
    }
}
