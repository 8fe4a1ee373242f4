// Points of the sphere and their harmonics.
extern "C" {
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
