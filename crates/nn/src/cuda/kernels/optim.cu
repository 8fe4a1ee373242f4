extern "C" {
__global__ void gather_gradients(MAT(total), CMAT(g), long long len, int replace) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < len) total[i] = replace ? g[i] : total[i] + g[i];
    (void)total_stride; (void)g_stride;
}
__global__ void squared_norm_partials(MAT(partials), CMAT(g), long long len) {
    double s = 0.0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < len; i += (long long)gridDim.x * blockDim.x)
        s += (double)g[i] * g[i];
    __shared__ double sums[256];
    sums[threadIdx.x] = s;
    for (int half = 128; half; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partials[blockIdx.x] = (float)sums[0];
    (void)partials_stride; (void)g_stride;
}
// Counts the step and works out what is the same for all weights; mirrors adam_config.rs, Control::at_step.
__global__ void adam_prepare(u32 *step, MAT(control), CMAT(partials), int count, double lr, int warmup, int total,
                             double low, double beta1, double beta2, double clip, double ema_decay, double ema_warmup) {
    __shared__ double sums[256];
    double s = 0.0;
    if (clip > 0.0) for (int i = threadIdx.x; i < count; i += 256) s += partials[i];
    sums[threadIdx.x] = s;
    for (int half = 128; half; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x) return;
    u32 now = ++*step;
    double t = now, factor = 1.0, norm = sqrt(sums[0]);
    if (warmup >= 0) {
        double rise = warmup == 0 ? 1.0 : fmin(t / warmup, 1.0);
        double progress = fmin((t - 1.0) / (total > 0 ? total : 1), 1.0);
        factor = rise * (low + (1.0 - low) * (0.5 + 0.5 * cospi(progress)));
    }
    double rate = lr * factor;
    control[0] = (float)rate;
    control[1] = (float)(rate / (1.0 - pow(beta1, t)));
    control[2] = (float)(1.0 / sqrt(1.0 - pow(beta2, t)));
    control[3] = clip > 0.0 ? (float)fmin(clip / (norm + 1e-6), 1.0) : 1.f;
    control[4] = (float)(1.0 - fmin(ema_decay, t / (t + ema_warmup)));
    control[5] = (float)norm;
    (void)control_stride; (void)partials_stride;
}
struct AdamRates { float beta2, one_minus_beta1, one_minus_beta2, eps, l2, shrink, step_size, correction, clip; };
__device__ float adam_one(float w, float g, float &m, float &v, const AdamRates &h) {
    g = g * h.clip + h.l2 * w;
    m += h.one_minus_beta1 * (g - m);
    v = h.beta2 * v + h.one_minus_beta2 * g * g;
    return h.shrink * w - h.step_size * m / (sqrtf(v) * h.correction + h.eps);
}
// Four weights a thread; the flat buffers' length is a multiple of 32.
__global__ void adam(MAT(w), CMAT(g), MAT(m), MAT(v), MAT(ema), CMAT(control), long long len, float beta2,
                     float one_minus_beta1, float one_minus_beta2, float eps, float l2, float decoupled) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= len) return;
    AdamRates h = {beta2, one_minus_beta1, one_minus_beta2, eps, l2, 1.f - control[0] * decoupled,
                   control[1], control[2], control[3]};
    float4 W = ((float4 *)w)[i], G = ((const float4 *)g)[i], M = ((float4 *)m)[i], V = ((float4 *)v)[i];
    W.x = adam_one(W.x, G.x, M.x, V.x, h); W.y = adam_one(W.y, G.y, M.y, V.y, h);
    W.z = adam_one(W.z, G.z, M.z, V.z, h); W.w = adam_one(W.w, G.w, M.w, V.w, h);
    ((float4 *)w)[i] = W; ((float4 *)m)[i] = M; ((float4 *)v)[i] = V;
    if (ema) {
        float rate = control[4];
        float4 E = ((float4 *)ema)[i];
        E.x += rate * (W.x - E.x); E.y += rate * (W.y - E.y); E.z += rate * (W.z - E.z); E.w += rate * (W.w - E.w);
        ((float4 *)ema)[i] = E;
    }
    (void)w_stride; (void)g_stride; (void)m_stride; (void)v_stride; (void)ema_stride; (void)control_stride;
}
}
