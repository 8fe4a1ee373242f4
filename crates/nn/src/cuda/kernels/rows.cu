// Grid::Rows: a block of 256 threads a row.
#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
extern "C" {
__global__ void column_sums(MAT(out), CMAT(x), int rows, int cols, int accumulate) {
    __shared__ float part[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float s = 0.f;
#pragma unroll 8
    for (int r = threadIdx.y; r < rows; r += 32) s += c < cols ? AT(x, r, c) : 0.f;
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    // A warp adds up a column.
    s = part[threadIdx.x][threadIdx.y];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    c = blockIdx.x * 32 + threadIdx.y;
    if (threadIdx.x == 0 && c < cols) out[c] = accumulate ? out[c] + s : s;
    (void)out_stride;
}
__device__ float row_lse(const float *x, const float *bias, int cols, float *max_out) {
    float m = -__int_as_float(0x7f800000), s = 0.f;
    EACH(i, cols) m = fmaxf(m, bias ? x[i] + bias[i] : x[i]);
    m = block_max(m);
    EACH(i, cols) s += expf((bias ? x[i] + bias[i] : x[i]) - m);
    if (max_out) *max_out = m;
    return m + logf(block_sum(s));
}
__global__ void softmax(MAT(x), MAT(lse), CMAT(bias), int cols, float scale) {
    float *row = x + (long long)blockIdx.x * x_stride;
    float m = -__int_as_float(0x7f800000), s = 0.f;
    EACH(i, cols) { float v = bias ? row[i] + bias[i] : row[i]; m = fmaxf(m, v); }
    m = block_max(m);
    EACH(i, cols) { float v = expf((bias ? row[i] + bias[i] : row[i]) - m); row[i] = v; s += v; }
    s = block_sum(s);
    float factor = scale / s;
    EACH(i, cols) row[i] *= factor;
    if (threadIdx.x == 0) AT(lse, blockIdx.x, 0) = m + logf(s);
    (void)bias_stride;
}
__global__ void row_dot(MAT(out), CMAT(a), CMAT(b), int cols, float alpha, float beta) {
    float s = 0.f;
    EACH(i, cols) s += AT(a, blockIdx.x, i) * AT(b, blockIdx.x, i);
    s = block_sum(s);
    if (threadIdx.x == 0) {
        float kept = beta == 0.f ? 0.f : beta * AT(out, blockIdx.x, 0);
        AT(out, blockIdx.x, 0) = alpha * s + kept;
    }
}
__global__ void layer_norm(MAT(y), CMAT(x), CMAT(gs), int cols, float eps) {
    int r = blockIdx.x;
    float s = 0.f;
    EACH(i, cols) s += AT(x, r, i);
    float mean = block_sum(s) / cols;
    s = 0.f;
    EACH(i, cols) { float d = AT(x, r, i) - mean; s += d * d; }
    float rstd = 1.f / sqrtf(block_sum(s) / cols + eps);
    EACH(i, cols) AT(y, r, i) = AT(gs, r, i) * ((AT(x, r, i) - mean) * rstd) + AT(gs, r, cols + i);
}
__global__ void normalise(MAT(y), MAT(norms), CMAT(x), int cols, float eps) {
    int r = blockIdx.x;
    float s = 0.f;
    EACH(i, cols) s += AT(x, r, i) * AT(x, r, i);
    float norm = fmaxf(sqrtf(block_sum(s)), eps);
    if (threadIdx.x == 0) AT(norms, r, 0) = norm;
    EACH(i, cols) AT(y, r, i) = AT(x, r, i) * (1.f / norm);
}
__global__ void normalise_backward(MAT(dx), CMAT(dy), CMAT(y), CMAT(norms), int cols) {
    int r = blockIdx.x;
    float s = 0.f;
    EACH(i, cols) s += AT(y, r, i) * AT(dy, r, i);
    s = block_sum(s);
    float inverse = 1.f / AT(norms, r, 0);
    EACH(i, cols) AT(dx, r, i) = (AT(dy, r, i) - AT(y, r, i) * s) * inverse;
}
__global__ void point_loss(MAT(de), MAT(loss), CMAT(e), CMAT(y), int cols, int kind, float scale) {
    int r = blockIdx.x;
    float value;
    if (kind == 0) {
        float ee = 0.f, yy = 0.f, ey = 0.f;
        EACH(i, cols) { float a = AT(e, r, i), b = AT(y, r, i); ee += a * a; yy += b * b; ey += a * b; }
        float en = fmaxf(sqrtf(block_sum(ee)), 1e-8f), yn = fmaxf(sqrtf(block_sum(yy)), 1e-8f);
        float cosine = block_sum(ey) / (en * yn);
        EACH(i, cols) AT(de, r, i) = -scale * (AT(y, r, i) / yn - cosine * AT(e, r, i) / en) / en;
        value = 1.f - cosine;
    } else {
        float s = 0.f, k = scale / cols;
        EACH(i, cols) {
            float d = AT(e, r, i) - AT(y, r, i);
            if (kind == 1) { s += fabsf(d); AT(de, r, i) = d > 0.f ? k : (d < 0.f ? -k : 0.f); }
            else { s += d * d; AT(de, r, i) = 2.f * k * d; }
        }
        value = block_sum(s) / cols;
    }
    if (threadIdx.x == 0) AT(loss, r, 0) = value;
}
__global__ void reverse_kl(MAT(q), MAT(p), CMAT(bias), MAT(loss), int cols, float scale) {
    float *qr = q + (long long)blockIdx.x * q_stride, *pr = p + (long long)blockIdx.x * p_stride;
    float lq = row_lse(qr, bias, cols, 0), lp = row_lse(pr, bias, cols, 0), s = 0.f;
    // q - p needs no bias: it cancels.
    float shift = lp - lq;
    EACH(i, cols) s += expf((bias ? qr[i] + bias[i] : qr[i]) - lq) * (qr[i] - pr[i] + shift);
    float kl = block_sum(s);
    EACH(i, cols) qr[i] = scale * expf((bias ? qr[i] + bias[i] : qr[i]) - lq) * (qr[i] - pr[i] + shift - kl);
    if (threadIdx.x == 0) AT(loss, blockIdx.x, 0) = kl;
    (void)bias_stride;
}
}
