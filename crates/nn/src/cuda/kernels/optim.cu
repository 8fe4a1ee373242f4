// The sum over a block of 256 threads, in every thread.
__device__ double block_sum_256(double v, double *sums) {
    __syncthreads();
    sums[threadIdx.x] = v;
    for (int half = 128; half; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
    return sums[0];
}
extern "C" {
__global__ void gather_gradients(MAT(total), CMAT(g), long long len, int replace) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < len) total[i] = replace ? g[i] : total[i] + g[i];
    (void)total_stride; (void)g_stride;
}
// Counts the step and works out what is the same for all weights; mirrors adam_config.rs, Control::at_step. The blocks
// share the squares of the gradient, and the last of them to end adds up what they found: in the same order every time.
__global__ void adam_prepare(u32 *step, MAT(control), MAT(partials), CMAT(g), long long len, double lr, int warmup,
                             int total, double low, double beta1, double beta2, double clip, double ema_decay,
                             double ema_warmup) {
    __shared__ double sums[256];
    __shared__ bool is_last;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        double t = ++*step, factor = 1.0;
        if (warmup >= 0) {
            double rise = warmup == 0 ? 1.0 : fmin(t / warmup, 1.0);
            double progress = fmin((t - 1.0) / (total > 0 ? total : 1), 1.0);
            factor = rise * (low + (1.0 - low) * (0.5 + 0.5 * cospi(progress)));
        }
        double rate = lr * factor;
        control[0] = (float)rate;
        control[1] = (float)(rate / (1.0 - pow(beta1, t)));
        control[2] = (float)(1.0 / sqrt(1.0 - pow(beta2, t)));
        control[4] = (float)(1.0 - fmin(ema_decay, t / (t + ema_warmup)));
        if (clip <= 0.0) { control[3] = 1.f; control[5] = 0.f; }
    }
    if (clip <= 0.0) return;
    double s = 0.0;
#pragma unroll 4
    for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < len / 4; i += (long long)gridDim.x * 256) {
        float4 G = ((const float4 *)g)[i];
        s += (double)G.x * G.x + (double)G.y * G.y + ((double)G.z * G.z + (double)G.w * G.w);
    }
    s = block_sum_256(s, sums);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = (float)s;
        __threadfence();
        is_last = atomicAdd((u32 *)(control + 7), 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    s = 0.0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) s += __ldcg(partials + i);
    double norm = sqrt(block_sum_256(s, sums));
    if (threadIdx.x) return;
    control[3] = (float)fmin(clip / (norm + 1e-6), 1.0);
    control[5] = (float)norm;
    *(u32 *)(control + 7) = 0u;
    (void)control_stride; (void)partials_stride; (void)g_stride;
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
