// What a training step reads, made on the device: rows drawn from a table that lies in memory, spherical harmonics of points.
// SplitMix64 over several words: the same integers as the host's.
__device__ u64 mix_word(u64 state, u64 word) {
    u64 z = (state ^ word) + 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
__device__ u64 mix_words(u64 a, u64 b, u64 c, u64 d) {
    return mix_word(mix_word(mix_word(mix_word(0x9E3779B97F4A7C15ull, a), b), c), d);
}
__device__ double mix_uniform(u64 a, u64 b, u64 c, u64 d) {
    return (double)(mix_words(a, b, c, d) >> 11) * (1.0 / 9007199254740992.0);
}
__device__ u64 join_words(const u32 *words) { return (u64)words[0] | (u64)words[1] << 32; }

extern "C" {
// Row numbers of a batch, and which copy of each; `first`: rows of a larger batch before the first of ours.
__global__ void draw_rows(u32 *rows, u32 *copies, int count, const u32 *pool, long long pool_len, long long copies_len,
                          const u32 *state, long long first, u32 row_stream, u32 copy_stream) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    u64 seed = join_words(state), step = join_words(state + 2), k = (u64)(first + i);
    rows[i] = pool[__umul64hi(mix_words(seed, row_stream, step, k), (u64)pool_len)];
    copies[i] = (u32)__umul64hi(mix_words(seed, copy_stream, step, k), (u64)copies_len);
}
// Standardised rows of a table of f16 (`half`) or f32 values, copy by copy.
__global__ void gather_table(MAT(out), const void *table, int half, const u32 *rows, const u32 *copies, long long table_rows,
                             int cols, CMAT(mean), CMAT(deviation)) {
    ELEMENT(cols)
    long long at = ((long long)copies[r] * table_rows + rows[r]) * cols + c;
    float v;
    if (half) asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(((const unsigned short *)table)[at]));
    else v = ((const float *)table)[at];
    AT(out, r, c) = __fdiv_rn(v - mean[c], deviation[c]);
    (void)mean_stride; (void)deviation_stride;
}
// Points drawn evenly on the sphere, new ones every step.
__global__ void draw_points(double *points, int count, const u32 *state, u32 stream) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    u64 seed = join_words(state), step = join_words(state + 2), key = step << 16 | (u64)i;
    double z = 2.0 * mix_uniform(seed, stream, key, 1) - 1.0, sine, cosine;
    double s = sqrt(fmax(1.0 - z * z, 0.0));
    sincos(6.283185307179586 * mix_uniform(seed, stream, key, 2), &sine, &cosine);
    points[3 * i] = s * cosine; points[3 * i + 1] = s * sine; points[3 * i + 2] = z;
}
// All real harmonics of points, in f64, rounded once. A thread an order m, `lanes` threads a point: they walk through the degrees
// together, so that what they write lies side by side. `steps` holds (a, c) of the recurrence by degree and order,
// `diagonal` its beginnings; `factors` and `columns` may be null: no factor, all coefficients.
__global__ void harmonics(MAT(out), const double *points, const u32 *rows, int count, int degree, int lanes,
                          const double *steps, const double *diagonal, const float *factors, const u32 *columns) {
    int per = blockDim.x / lanes, p = blockIdx.x * per + threadIdx.x / lanes, m = threadIdx.x % lanes;
    if (p >= count || m > degree) return;
    const double *at = points + 3 * (long long)(rows ? rows[p] : (u32)p);
    double x = at[0], y = at[1], z = at[2], re = 1.0, im = 0.0, before = 0.0, now = 0.0;
    for (int k = 0; k < m; k++) {
        double next = re * x - im * y;
        im = re * y + im * x;
        re = next;
        if (fabs(re) + fabs(im) < 1e-280) re = im = 0.0;
    }
    float *row = out + (long long)p * out_stride;
    for (int l = 0; l <= degree; l++) {
        if (l < m) continue;
        const double *step = steps + 2 * ((long long)l * (degree + 1) + m);
        double q = l == m ? diagonal[m] : step[0] * z * now + step[1] * before;
        before = now;
        now = q;
        int plus = l * l + l + m, minus = l * l + l - m;
        if (columns) {
            // 0 means: not kept.
            u32 a = columns[plus], b = columns[minus];
            if (a) row[a - 1] = (float)(q * re) * (factors ? factors[a - 1] : 1.f);
            if (m && b) row[b - 1] = (float)(q * im) * (factors ? factors[b - 1] : 1.f);
        } else {
            row[plus] = (float)(q * re) * (factors ? factors[plus] : 1.f);
            if (m) row[minus] = (float)(q * im) * (factors ? factors[minus] : 1.f);
        }
    }
}
}
