/* One pass through all layers of a Llama-like model in float32, of a step, a draft or a chunk of a prompt: the same
   numbers as decoder.py computes with PyTorch. A row's bits depend on what it sees, not on the rows beside it, on what
   lies behind it in the cache or on the number of threads. Knows nothing of Python. */

#include "products.c"

#include "low_bits.c"

#include "elementary.c"

#include "attention.c"

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
    int (*given_up)(void);  /* asked between layers, or null */
} Pass;

/* More rows than these are shared by all threads between the products; fewer are done before they have met. */
#define SHARED 16
#define OVER_ROWS(COUNT)                                                                                               \
    _Pragma("omp parallel for schedule(static) num_threads(team)") for (long r = 0; r < COUNT; r++)

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
    for (i = 0; i + 8 <= size; i += 8) {
        const __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(scale));
        _mm256_storeu_ps(out + i, _mm256_mul_ps(v, _mm256_loadu_ps(weight + i)));
    }
    for (; i < size; i++) out[i] = x[i] * scale * weight[i];
}

TARGET static void add(float *x, const float *more, long size) {
    long i = 0;
    for (; i + 8 <= size; i += 8)
        _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(more + i)));
    for (; i < size; i++) x[i] += more[i];
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

/* Slots up to the last one that is seen. */
static long seen_span(const uint8_t *seen, long span) {
    while (seen && span > 1 && !seen[span - 1]) span--;
    return span;
}

/* Logits [used rows, or the last alone; outputs of the head]. 0 when memory lacks or a matrix is of no known kind, -1 when
   it was given up. */
TARGET int forward(const Model *m, const Pass *pass, float *logits) {
    const long rows = pass->rows, used = pass->used, hidden = m->hidden, size = m->head_dim, span = pass->span;
    const long heads = m->heads, key_heads = m->key_heads, all = (heads + 2 * key_heads) * size;
    const long cached = pass->slots * size, room = span + 8;
    const int threads = pass->threads;
    float *x = pass->x;
    float *memory =
        malloc(sizeof(float) * (rows * (hidden + all + heads * size + 3 * m->inner) + threads * TOGETHER * room));
    if (!memory) return 0;
    float *normed = memory, *qkv = normed + rows * hidden, *attended = qkv + rows * all;
    float *both = attended + rows * heads * size, *inner = both + rows * 2 * m->inner, *scores = inner + rows * m->inner;
    /* Of the last layer only the rows that are asked for go on; the others have left their keys and values. */
    const long asked = pass->last_only ? used - 1 : 0;
    int done = 1;
    for (long l = 0; l < m->layers && done > 0; l++) {
        const Layer *layer = m->layer + l;
        const long from = l == m->layers - 1 ? asked : 0, count = from ? 1 : rows;
        const int team = count > SHARED ? threads : 1;
        float *keys = pass->keys + l * key_heads * cached, *values = pass->values + l * key_heads * cached;
        if (pass->given_up && pass->given_up()) {
            done = -1;
            break;
        }
        OVER_ROWS(rows) norm(x + r * hidden, layer->before_attention, normed + r * hidden, hidden, m->eps);
        done &= multiply(&layer->qkv, normed, qkv, rows, threads);
        OVER_ROWS(rows) {
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
        /* Queries by key head, and each thread takes as many of them. */
        const long group = heads / key_heads, of_one = count * group;
        _Pragma("omp parallel num_threads(threads)") {
            const long mine = omp_get_thread_num(), teams = omp_get_num_threads();
            const long last = count * heads * (mine + 1) / teams;
            float *room_of_mine = scores + mine * TOGETHER * room;
            for (long i = count * heads * mine / teams, next; i < last; i = next) {
                const long key_head = i / of_one, end = (key_head + 1) * of_one;
                Query queries[TOGETHER];
                next = i + TOGETHER;
                next = next < last ? next : last;
                next = next < end ? next : end;
                for (long j = i; j < next; j++) {
                    const long r = from + j % of_one / group, h = key_head * group + j % group;
                    const uint8_t *seen = mask ? mask + r * span : 0;
                    queries[j - i] = (Query){.query = qkv + r * all + h * size,
                                             .seen = seen,
                                             .span = seen_span(seen, span),
                                             .scores = room_of_mine + (j - i) * room,
                                             .out = attended + (r * heads + h) * size};
                }
                (is_wide ? attend_wide : attend_narrow)(queries, next - i, keys + key_head * cached,
                                                        values + key_head * cached, size, m->scale);
            }
        }
        float *some = x + from * hidden;
        done &= multiply(&layer->output, attended + from * heads * size, normed, count, threads);
        OVER_ROWS(count) {
            add(some + r * hidden, normed + r * hidden, hidden);
            norm(some + r * hidden, layer->before_mlp, normed + r * hidden, hidden, m->eps);
        }
        done &= multiply(&layer->gate_up, normed, both, count, threads);
        OVER_ROWS(count) gate(both + r * 2 * m->inner, both + (2 * r + 1) * m->inner, inner + r * m->inner, m->inner);
        done &= multiply(&layer->down, inner, normed, count, threads);
        OVER_ROWS(count) add(some + r * hidden, normed + r * hidden, hidden);
    }
    if (done > 0) {
        const long count = used - asked;
        const int team = count > SHARED ? threads : 1;
        OVER_ROWS(count) norm(x + (asked + r) * hidden, m->norm, normed + r * hidden, hidden, m->norm_eps);
        done &= multiply(&m->head, normed, logits, count, threads);
    }
    free(memory);
    return done;
}
