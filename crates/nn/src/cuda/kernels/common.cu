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
// LaunchGrid::fours: one thread four columns, of which `left` are there.
#define FOURS(cols) \
    int r = blockIdx.x, c = 4 * (blockIdx.y * blockDim.x + threadIdx.x), left = (cols) - c; \
    if (left <= 0) return;

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

// Up to four values in a row: one access where they lie on 16 bytes.
__device__ bool is_four(const void *p, int left) { return left >= 4 && ((u64)p & 15) == 0; }
__device__ void load_four(const float *p, int left, float *v) {
    if (is_four(p, left)) { float4 f = *(const float4 *)p; v[0] = f.x; v[1] = f.y; v[2] = f.z; v[3] = f.w; }
    else for (int k = 0; k < 4; k++) v[k] = k < left ? p[k] : 0.f;
}
__device__ void store_four(float *p, int left, const float *v) {
    if (is_four(p, left)) *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]);
    else for (int k = 0; k < 4; k++) if (k < left) p[k] = v[k];
}

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
// The pair of normals whose first has this number.
__device__ float2 normal_pair(u32 a, u32 b) {
    float radius = sqrtf(-2.f * logf(to_uniform(a))), sine, cosine;
    sincosf(6.283185307179586f * to_uniform(b), &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}
__device__ float philox_normal(const u32 *state, u32 stream, u64 number) {
    uint4 w = philox_block(state, stream, number >> 2);
    float2 pair = (number & 2) ? normal_pair(w.z, w.w) : normal_pair(w.x, w.y);
    return (number & 1) ? pair.y : pair.x;
}
// Four in a row, from one block where they are one.
__device__ void philox_normals(const u32 *state, u32 stream, u64 number, float *z) {
    if (number & 3) {
        for (int k = 0; k < 4; k++) z[k] = philox_normal(state, stream, number + k);
        return;
    }
    uint4 w = philox_block(state, stream, number >> 2);
    float2 low = normal_pair(w.x, w.y), high = normal_pair(w.z, w.w);
    z[0] = low.x; z[1] = low.y; z[2] = high.x; z[3] = high.y;
}
__device__ void philox_words(const u32 *state, u32 stream, u64 number, u32 *words) {
    if (number & 3) {
        for (int k = 0; k < 4; k++) words[k] = philox_word(state, stream, number + k);
        return;
    }
    uint4 w = philox_block(state, stream, number >> 2);
    words[0] = w.x; words[1] = w.y; words[2] = w.z; words[3] = w.w;
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
