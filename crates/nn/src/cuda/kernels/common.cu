// Shared by all kernels. Matrices are row-major: value (r, c) of a view at p[(long long)r * stride + c].
typedef unsigned int u32;
typedef unsigned long long u64;
#define AT(p, r, c) (p)[(long long)(r) * p##_stride + (c)]
#define MAT(p) float *p, int p##_stride
#define CMAT(p) const float *p, int p##_stride
// Grid::Elements: one thread a value.
#define ELEMENT(cols) \
    int r = blockIdx.x, c = blockIdx.y * blockDim.x + threadIdx.x; \
    if (c >= (cols)) return;

// Sum or maximum over a block of up to 1024 threads, the same in every thread; the order is fixed.
template <bool MAX> __device__ float block_reduce(float v) {
    __shared__ float warp_values[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    for (int o = 16; o; o >>= 1) { float u = __shfl_xor_sync(~0u, v, o); v = MAX ? fmaxf(v, u) : v + u; }
    __syncthreads();
    if (lane == 0) warp_values[warp] = v;
    __syncthreads();
    v = lane < warps ? warp_values[lane] : (MAX ? -__int_as_float(0x7f800000) : 0.f);
    for (int o = 16; o; o >>= 1) { float u = __shfl_xor_sync(~0u, v, o); v = MAX ? fmaxf(v, u) : v + u; }
    return v;
}
__device__ float block_sum(float v) { return block_reduce<false>(v); }
__device__ float block_max(float v) { return block_reduce<true>(v); }

// Philox4x32-10, the same integers as cpu/random.rs.
__device__ uint4 philox_block(const u32 *state, u32 stream, u64 block) {
    u32 x0 = (u32)block, x1 = stream, x2 = state[2], x3 = state[3], k0 = state[0], k1 = state[1];
    for (int round = 0; round < 10; round++) {
        if (round) { k0 += 0x9E3779B9u; k1 += 0xBB67AE85u; }
        u64 a = (u64)x0 * 0xD2511F53u, b = (u64)x2 * 0xCD9E8D57u;
        x0 = (u32)(b >> 32) ^ x1 ^ k0; x1 = (u32)b;
        x2 = (u32)(a >> 32) ^ x3 ^ k1; x3 = (u32)a;
    }
    return make_uint4(x0, x1, x2, x3);
}
__device__ u32 philox_word(const u32 *state, u32 stream, u64 number) {
    uint4 w = philox_block(state, stream, number >> 2);
    switch (number & 3) { case 0: return w.x; case 1: return w.y; case 2: return w.z; default: return w.w; }
}
__device__ float to_uniform(u32 word) { return ((float)(word >> 9) + 0.5f) * (1.f / 8388608.f); }
__device__ float philox_normal(const u32 *state, u32 stream, u64 number) {
    uint4 w = philox_block(state, stream, number >> 2);
    u32 a = (number & 2) ? w.z : w.x, b = (number & 2) ? w.w : w.y;
    float radius = sqrtf(-2.f * logf(to_uniform(a))), sine, cosine;
    sincosf(6.283185307179586f * to_uniform(b), &sine, &cosine);
    return radius * ((number & 1) ? sine : cosine);
}

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
