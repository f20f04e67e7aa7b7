/* One pass of few rows through all layers of a Llama-like model in float32: the same numbers as decoder.py computes with
   PyTorch, in six calls a layer. A row's bits depend on what it sees, not on the rows beside it, on what lies behind it
   in the cache or on the number of threads. Knows nothing of Python. */

#include "products.c"

#include "noise.c"

#include "choice.c"

/* Some outputs of a matrix: dense (`kind` as in products.c) or in low bits (`kind` 16 + bits, 32 + bits where the
   levels are even). */
typedef struct {
    long kind, outs, groups, per;
    const void *weights, *scales, *offsets, *table;
    float divisor;
} Part;

typedef struct {
    long count, outs, in;
    const Part *parts;
    const float *bias;
} Matrix;

typedef struct {
    Matrix qkv, output, gate_up, down;
    const float *before_attention, *before_mlp, *query_norm, *key_norm;
    long mask;  /* which of the masks, -1 none */
} Layer;

typedef struct {
    long layers, hidden, heads, key_heads, head_dim, inner;
    float eps, norm_eps, query_eps, scale;
    const Layer *layer;
    const float *norm;
    Matrix head;
} Model;

/* Rows, and where their keys and values go: `keys` and `values` [layers, key heads, slots, head_dim]. The first `used`
   rows write, to the slots from `first` on. `turn` [rows, 2, head_dim]: cosines, and sines with their signs. */
typedef struct {
    long rows, used, first, span, slots;
    float *x, *keys, *values;
    const float *turn;
    const uint8_t *const *masks;
    int threads, last_only;
} Pass;

static int multiply(const Matrix *m, const float *x, float *out, long rows, int threads) {
    float *y = out;
    for (long i = 0; i < m->count; i++) {
        const Part *p = m->parts + i;
        int done = 1;
#define LOW(NAME) done = NAME(p->weights, p->scales, p->offsets, p->table, x, y, p->outs, m->outs, m->in, rows,        \
                              p->groups, p->per, threads, p->divisor); break
        switch (p->kind) {
            case 0: dense_bfloat16(p->weights, x, m->bias, y, p->outs, m->in, rows, threads); break;
            case 1: dense_float16(p->weights, x, m->bias, y, p->outs, m->in, rows, threads); break;
            case 2: dense_float32(p->weights, x, m->bias, y, p->outs, m->in, rows, threads); break;
            case 18: LOW(free_2);
            case 19: LOW(free_3);
            case 20: LOW(free_4);
            case 34: LOW(even_2);
            case 35: LOW(even_3);
            case 36: LOW(even_4);
            default: return 0;
        }
#undef LOW
        if (!done) return 0;
        y += p->outs;
    }
    if (m->bias && m->parts->kind > 2)
        for (long r = 0; r < rows; r++) for (long o = 0; o < m->outs; o++) out[r * m->outs + o] += m->bias[o];
    return 1;
}

TARGET static void norm(const float *x, const float *weight, float *out, long size, float eps) {
    float squares = 0;
    __m256 sums = _mm256_setzero_ps();
    long i = 0;
    for (; i + 8 <= size; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        sums = _mm256_fmadd_ps(v, v, sums);
    }
    squares = sum(sums);
    for (; i < size; i++) squares += x[i] * x[i];
    const float scale = 1 / sqrtf(squares / size + eps);
    for (i = 0; i < size; i++) out[i] = x[i] * scale * weight[i];
}

/* e to the power of x <= 0: by a power of two and a polynomial, as in Cephes; 0 below -87. */
INLINE __m256 power(__m256 x) {
    const __m256 small = _mm256_cmp_ps(x, _mm256_set1_ps(-87.3f), _CMP_LT_OQ);
    x = _mm256_max_ps(x, _mm256_set1_ps(-87.3f));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), x);
    __m256 y = _mm256_set1_ps(1.9875691500e-4f);
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(1.3981999507e-3f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(8.3334519073e-3f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(4.1665795894e-2f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(1.6666665459e-1f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(5.0000001201e-1f));
    y = _mm256_add_ps(_mm256_fmadd_ps(y, _mm256_mul_ps(x, x), x), _mm256_set1_ps(1));
    __m256i two = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(small, _mm256_mul_ps(y, _mm256_castsi256_ps(two)));
}

/* Turn a head's query or key by its position, behind its norm where there is one. */
TARGET static void turn(const float *x, const float *weight, float eps, const float *by, float *out, long size) {
    float normed[512];
    if (weight) {
        norm(x, weight, normed, size, eps);
        x = normed;
    }
    const long half = size / 2;
    for (long i = 0; i < half; i++) {
        const float low = x[i] * by[i] + x[i + half] * by[size + i];
        out[i + half] = x[i + half] * by[i + half] + x[i] * by[size + i + half];
        out[i] = low;
    }
}

/* One head of one row over the slots that it sees. `scores` has room for the span and seven more. */
TARGET static void attend(const float *query, const float *keys, const float *values, const uint8_t *seen, long span,
                          long size, float scale, float *scores, float *out) {
    float largest = -INFINITY;
    for (long j = 0; j < span; j++) {
        if (seen && !seen[j]) {
            scores[j] = -INFINITY;
            continue;
        }
        __m256 sums = _mm256_setzero_ps();
        for (long d = 0; d < size; d += 8)
            sums = _mm256_fmadd_ps(_mm256_loadu_ps(query + d), _mm256_loadu_ps(keys + j * size + d), sums);
        scores[j] = sum(sums) * scale;
        if (scores[j] > largest) largest = scores[j];
    }
    for (long j = span; j < span + 7; j++) scores[j] = -INFINITY;
    __m256 total = _mm256_setzero_ps();
    for (long j = 0; j < span; j += 8) {
        __m256 shares = power(_mm256_sub_ps(_mm256_loadu_ps(scores + j), _mm256_set1_ps(largest)));
        _mm256_storeu_ps(scores + j, shares);
        total = _mm256_add_ps(total, shares);
    }
    const float inverse = 1 / sum(total);
    for (long d = 0; d < size; d += 32) {
        __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
        const long parts = size - d < 32 ? (size - d) / 8 : 4;
        for (long j = 0; j < span; j++) {
            if (scores[j] == 0) continue;
            const __m256 share = _mm256_set1_ps(scores[j]);
            const float *value = values + j * size + d;
            if (parts == 4) {
                UNROLL for (int p = 0; p < 4; p++) sums[p] = _mm256_fmadd_ps(share, _mm256_loadu_ps(value + 8 * p), sums[p]);
            } else {
                for (int p = 0; p < parts; p++) sums[p] = _mm256_fmadd_ps(share, _mm256_loadu_ps(value + 8 * p), sums[p]);
            }
        }
        for (int p = 0; p < parts; p++)
            _mm256_storeu_ps(out + d + 8 * p, _mm256_mul_ps(sums[p], _mm256_set1_ps(inverse)));
    }
}

/* x times the sigmoid of x, times `up`. */
TARGET static void gate(const float *x, const float *up, float *out, long size) {
    const __m256 one = _mm256_set1_ps(1), sign = _mm256_set1_ps(-0.0f);
    long i = 0;
    for (; i < size; i += 8) {
        float some[8] = {0}, more[8] = {0};
        const long left = size - i < 8 ? size - i : 8;
        const float *a = x + i, *b = up + i;
        if (left < 8) {
            memcpy(some, a, 4 * left);
            memcpy(more, b, 4 * left);
            a = some;
            b = more;
        }
        __m256 v = _mm256_loadu_ps(a);
        /* Of -|x|, so that nothing overflows: the sigmoid of x is 1 / (1 + e), of -x it is e / (1 + e). */
        __m256 e = power(_mm256_or_ps(v, sign));
        __m256 top = _mm256_blendv_ps(one, e, v);
        v = _mm256_mul_ps(_mm256_div_ps(_mm256_mul_ps(v, top), _mm256_add_ps(one, e)), _mm256_loadu_ps(b));
        if (left == 8) {
            _mm256_storeu_ps(out + i, v);
        } else {
            _mm256_storeu_ps(some, v);
            memcpy(out + i, some, 4 * left);
        }
    }
}

/* Logits [used rows, or the last alone; outputs of the head]. Zero when memory lacks or a matrix is of no known kind. */
TARGET int forward(const Model *m, const Pass *pass, float *logits) {
    const long rows = pass->rows, used = pass->used, hidden = m->hidden, size = m->head_dim, span = pass->span;
    const long heads = m->heads, key_heads = m->key_heads, all = (heads + 2 * key_heads) * size;
    const long cached = pass->slots * size, room = span + 8;
    const int threads = pass->threads;
    float *x = pass->x;
    float *memory = malloc(sizeof(float) * (rows * (hidden + all + heads * size + 3 * m->inner) + threads * room));
    if (!memory) return 0;
    float *normed = memory, *qkv = normed + rows * hidden, *attended = qkv + rows * all;
    float *both = attended + rows * heads * size, *inner = both + rows * 2 * m->inner, *scores = inner + rows * m->inner;
    int done = 1;
    for (long l = 0; l < m->layers && done; l++) {
        const Layer *layer = m->layer + l;
        float *keys = pass->keys + l * key_heads * cached, *values = pass->values + l * key_heads * cached;
        for (long r = 0; r < rows; r++) norm(x + r * hidden, layer->before_attention, normed + r * hidden, hidden, m->eps);
        done &= multiply(&layer->qkv, normed, qkv, rows, threads);
        for (long r = 0; r < rows; r++) {
            const float *by = pass->turn + r * 2 * size;
            float *row = qkv + r * all;
            for (long h = 0; h < heads; h++)
                turn(row + h * size, layer->query_norm, m->query_eps, by, row + h * size, size);
            for (long h = 0; h < key_heads && r < used; h++) {
                float *slot = keys + h * cached + (pass->first + r) * size;
                turn(row + (heads + h) * size, layer->key_norm, m->query_eps, by, slot, size);
                memcpy(values + h * cached + (pass->first + r) * size, row + (heads + key_heads + h) * size, 4 * size);
            }
        }
        const uint8_t *mask = layer->mask < 0 ? 0 : pass->masks[layer->mask];
        _Pragma("omp parallel for schedule(static) num_threads(threads)") for (long i = 0; i < rows * heads; i++) {
            const long r = i / heads, h = i % heads, from = h / (heads / key_heads) * cached;
            attend(qkv + r * all + h * size, keys + from, values + from, mask ? mask + r * span : 0, span, size, m->scale,
                   scores + omp_get_thread_num() * room, attended + (r * heads + h) * size);
        }
        done &= multiply(&layer->output, attended, normed, rows, threads);
        for (long i = 0; i < rows * hidden; i++) x[i] += normed[i];
        for (long r = 0; r < rows; r++) norm(x + r * hidden, layer->before_mlp, normed + r * hidden, hidden, m->eps);
        done &= multiply(&layer->gate_up, normed, both, rows, threads);
        for (long r = 0; r < rows; r++)
            gate(both + r * 2 * m->inner, both + (2 * r + 1) * m->inner, inner + r * m->inner, m->inner);
        done &= multiply(&layer->down, inner, normed, rows, threads);
        for (long i = 0; i < rows * hidden; i++) x[i] += normed[i];
    }
    const long from = pass->last_only ? used - 1 : 0, count = used - from;
    for (long r = 0; r < count; r++) norm(x + (from + r) * hidden, m->norm, normed + r * hidden, hidden, m->norm_eps);
    done &= multiply(&m->head, normed, logits, count, threads);
    free(memory);
    return done;
}
