extern "C" {
__global__ void activate(MAT(y), CMAT(x), int cols, int kind, float w0) {
    ELEMENT(cols)
    float v = AT(x, r, c), f;
    if (kind == 0) f = 0.5f * v * (1.f + erff(v * 0.70710678118654752f));
    else if (kind == 1) f = fmaxf(v, 0.f);
    else f = sinf(w0 * v);
    AT(y, r, c) = f;
}
__global__ void activate_backward(MAT(dx), CMAT(x), CMAT(dy), int cols, int kind, float w0) {
    ELEMENT(cols)
    float v = AT(x, r, c), slope;
    if (kind == 0) slope = 0.5f * (1.f + erff(v * 0.70710678118654752f)) + v * 0.3989422804014327f * expf(-0.5f * v * v);
    else if (kind == 1) slope = v > 0.f ? 1.f : 0.f;
    else slope = w0 * cosf(w0 * v);
    AT(dx, r, c) = AT(dy, r, c) * slope;
}
// A dropped value is stored as -0.0, which no kept value can be.
// Four columns a thread, which share a block of random words.
__global__ void dropout_sine(MAT(y), MAT(z), int cols, float w0, const u32 *state, long long first, u32 stream,
                             u32 threshold, float scale) {
    FOURS(cols)
    u32 words[4];
    philox_words(state, stream, (u64)(first + r) * cols + c, words);
    float v[4], f[4];
    load_four(&AT(z, r, c), left, v);
    for (int k = 0; k < 4; k++) {
        v[k] = words[k] >= threshold ? v[k] * scale + 0.f : -0.f;
        f[k] = sinf(w0 * v[k]);
    }
    store_four(&AT(z, r, c), left, v);
    store_four(&AT(y, r, c), left, f);
}
__global__ void dropout_sine_backward(MAT(dz), CMAT(z), CMAT(dy), int cols, float w0, float scale) {
    FOURS(cols)
    float v[4], d[4];
    load_four(&AT(z, r, c), left, v);
    load_four(&AT(dy, r, c), left, d);
    for (int k = 0; k < 4; k++) d[k] = __float_as_uint(v[k]) == 0x80000000u ? 0.f : d[k] * w0 * scale * cosf(w0 * v[k]);
    store_four(&AT(dz, r, c), left, d);
}
__global__ void dropout(MAT(y), int cols, const u32 *state, long long first, u32 stream, u32 threshold, float scale) {
    ELEMENT(cols)
    bool keep = philox_word(state, stream, (u64)(first + r) * cols + c) >= threshold;
    AT(y, r, c) = keep ? AT(y, r, c) * scale + 0.f : -0.f;
}
__global__ void dropout_backward(MAT(dy), CMAT(y), int cols, float scale) {
    ELEMENT(cols)
    AT(dy, r, c) = __float_as_uint(AT(y, r, c)) == 0x80000000u ? 0.f : AT(dy, r, c) * scale;
}
__global__ void film(MAT(h), CMAT(hx), CMAT(ss), CMAT(hi), int cols) {
    FOURS(cols)
    float x[4], scale[4], shift[4], i[4];
    load_four(&AT(hx, r, c), left, x);
    load_four(&AT(ss, r, c), left, scale);
    load_four(&AT(ss, r, cols + c), left, shift);
    load_four(&AT(hi, r, c), left, i);
    for (int k = 0; k < 4; k++) x[k] = (1.f + scale[k]) * x[k] + (shift[k] + i[k]);
    store_four(&AT(h, r, c), left, x);
}
__global__ void film_backward(MAT(dhx), MAT(dss), CMAT(dh), CMAT(hx), CMAT(ss), int cols) {
    FOURS(cols)
    float d[4], x[4], scale[4];
    load_four(&AT(dh, r, c), left, d);
    load_four(&AT(hx, r, c), left, x);
    load_four(&AT(ss, r, c), left, scale);
    store_four(&AT(dss, r, cols + c), left, d);
    for (int k = 0; k < 4; k++) { x[k] *= d[k]; d[k] *= 1.f + scale[k]; }
    store_four(&AT(dss, r, c), left, x);
    store_four(&AT(dhx, r, c), left, d);
}
__global__ void axpby(MAT(y), CMAT(x), int cols, float a, float b) {
    ELEMENT(cols)
    AT(y, r, c) = b == 0.f ? a * AT(x, r, c) : a * AT(x, r, c) + b * AT(y, r, c);
}
__global__ void scale(MAT(y), int cols, float factor) {
    ELEMENT(cols)
    AT(y, r, c) *= factor;
}
__global__ void round_bf16(unsigned short *out, CMAT(x), int out_stride, int cols) {
    ELEMENT(cols)
    u32 bits = __float_as_uint(AT(x, r, c));
    // To nearest, ties to even; a NaN stays one.
    u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    out[(long long)r * out_stride + c] = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : (unsigned short)rounded;
}
__global__ void gather_rows(MAT(out), CMAT(table), const u32 *indices, int cols, int table_rows) {
    ELEMENT(cols)
    u32 row = min(indices[r], (u32)table_rows - 1);
    AT(out, r, c) = AT(table, row, c);
}
__global__ void mix_rows(MAT(out), CMAT(a), CMAT(b), CMAT(k), const u32 *t, int cols, int table_rows) {
    ELEMENT(cols)
    u32 row = min(t[r], (u32)table_rows - 1);
    AT(out, r, c) = AT(k, row, 0) * AT(a, r, c) + AT(k, row, 1) * AT(b, r, c);
}
__global__ void sinusoidal(MAT(out), CMAT(t), int half) {
    ELEMENT(half)
    int denominator = half > 1 ? half - 1 : 1;
    float angle = AT(t, r, 0) * expf(-9.210340371976184f * (float)c / (float)denominator);
    AT(out, r, c) = sinf(angle);
    AT(out, r, half + c) = cosf(angle);
}
}
