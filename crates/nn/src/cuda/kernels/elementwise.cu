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
__global__ void dropout_sine(MAT(y), MAT(z), int cols, float w0, const u32 *state, long long first, u32 stream,
                             u32 threshold, float scale) {
    ELEMENT(cols)
    bool keep = philox_word(state, stream, (u64)(first + r) * cols + c) >= threshold;
    float v = keep ? AT(z, r, c) * scale + 0.f : -0.f;
    AT(z, r, c) = v;
    AT(y, r, c) = sinf(w0 * v);
}
__global__ void dropout_sine_backward(MAT(dz), CMAT(z), CMAT(dy), int cols, float w0, float scale) {
    ELEMENT(cols)
    float v = AT(z, r, c);
    AT(dz, r, c) = __float_as_uint(v) == 0x80000000u ? 0.f : AT(dy, r, c) * w0 * scale * cosf(w0 * v);
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
    ELEMENT(cols)
    AT(h, r, c) = (1.f + AT(ss, r, c)) * AT(hx, r, c) + (AT(ss, r, cols + c) + AT(hi, r, c));
}
__global__ void film_backward(MAT(dhx), MAT(dss), CMAT(dh), CMAT(hx), CMAT(ss), int cols) {
    ELEMENT(cols)
    float d = AT(dh, r, c);
    AT(dss, r, c) = d * AT(hx, r, c);
    AT(dss, r, cols + c) = d;
    AT(dhx, r, c) = d * (1.f + AT(ss, r, c));
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
