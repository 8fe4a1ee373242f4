// Inference in bf16: resident weights, f32 residual stream, products by cuBLASLt, everything else here.
// Needs compute capability 8.0; the host refuses older devices before it compiles this.
typedef unsigned short half_t;
#define HMAT(p) half_t *p, int p##_stride
#define CHMAT(p) const half_t *p, int p##_stride

__device__ __forceinline__ u32 pack2(float low, float high) {
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
__device__ __forceinline__ float low_half(u32 both) { return __uint_as_float(both << 16); }
__device__ __forceinline__ float high_half(u32 both) { return __uint_as_float(both & 0xffff0000u); }
__device__ __forceinline__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float warp_sum(float v) {
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    return v;
}

// A warp a row of up to 128·QUADS values, four at a time in each lane.
template <int QUADS, class Load, class Store>
__device__ __forceinline__ void norm_row(int cols, const float *gain_shift, float eps, Load load, Store store) {
    int lane = threadIdx.x & 31;
    float4 v[QUADS];
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        int c = k * 128 + lane * 4;
        if (c < cols) { v[k] = load(c); s += (v[k].x + v[k].y) + (v[k].z + v[k].w); }
    }
    float mean = warp_sum(s) / cols;
    s = 0.f;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        if (k * 128 + lane * 4 < cols) {
            v[k].x -= mean; v[k].y -= mean; v[k].z -= mean; v[k].w -= mean;
            s += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
        }
    }
    float rstd = rsqrtf(warp_sum(s) / cols + eps);
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        int c = k * 128 + lane * 4;
        if (c < cols) {
            float4 g = *(const float4 *)(gain_shift + c), b = *(const float4 *)(gain_shift + cols + c);
            store(c, make_float4(g.x * (v[k].x * rstd) + b.x, g.y * (v[k].y * rstd) + b.y,
                                 g.z * (v[k].z * rstd) + b.z, g.w * (v[k].w * rstd) + b.w));
        }
    }
}

// One chunk of keys for the 16 queries of a warp. Whole chunks have no branches, so that the loads of one product hide
// behind the arithmetic of another; of the last one only `left` keys count.
template <int D, int KEYS, bool WHOLE>
__device__ __forceinline__ void attend_chunk(
    const half_t *k_tile, const half_t *v_tile, const u32 (&qf)[D / 16][4], float (&o)[D / 8][4], float (&best)[2],
    float (&total)[2], float scale, int left
) {
    const int PAD = D + 8;
    int lane = threadIdx.x & 31, pair = (lane & 3) * 2;
    float s[KEYS / 8][4];
#pragma unroll
    for (int n = 0; n < KEYS / 8; n += 2) {
#pragma unroll
        for (int i = 0; i < 4; i++) s[n][i] = s[n + 1][i] = 0.f;
        if (WHOLE || n * 8 < left) {
#pragma unroll
            for (int d = 0; d < D / 16; d++) {
                // Keys n*8 … +15, values d*16 … +15: four 8×8 matrices.
                int row = n * 8 + (lane & 7) + (lane >> 4) * 8, col = d * 16 + (lane >> 3 & 1) * 8;
                u32 from = (u32)__cvta_generic_to_shared(k_tile + row * PAD + col), b[4];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(from));
#pragma unroll
                for (int j = 0; j < 2; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(s[n + j][0]), "+f"(s[n + j][1]), "+f"(s[n + j][2]), "+f"(s[n + j][3])
                                 : "r"(qf[d][0]), "r"(qf[d][1]), "r"(qf[d][2]), "r"(qf[d][3]), "r"(b[2 * j]), "r"(b[2 * j + 1]));
            }
        }
    }
    // Online softmax, in powers of 2.
    float top[2] = {best[0], best[1]}, offset[2];
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (!WHOLE && n * 8 + pair + (i & 1) >= left) s[n][i] = -1e30f;
            top[i >> 1] = fmaxf(top[i >> 1], s[n][i]);
        }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        top[r] = fmaxf(top[r], __shfl_xor_sync(~0u, top[r], 1));
        top[r] = fmaxf(top[r], __shfl_xor_sync(~0u, top[r], 2));
        offset[r] = -top[r] * scale;
        float shrink = power2((best[r] - top[r]) * scale);
        best[r] = top[r];
        total[r] *= shrink;
#pragma unroll
        for (int d = 0; d < D / 8; d++) { o[d][2 * r] *= shrink; o[d][2 * r + 1] *= shrink; }
    }
#pragma unroll
    for (int n = 0; n < KEYS / 8; n += 2) {
        if (WHOLE || n * 8 < left) {
#pragma unroll
            for (int j = n; j < n + 2; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    s[j][i] = power2(fmaf(s[j][i], scale, offset[i >> 1]));
                    total[i >> 1] += s[j][i];
                }
            u32 p[4] = {pack2(s[n][0], s[n][1]), pack2(s[n][2], s[n][3]),
                        pack2(s[n + 1][0], s[n + 1][1]), pack2(s[n + 1][2], s[n + 1][3])};
#pragma unroll
            for (int d = 0; d < D / 8; d += 2) {
                int row = n * 8 + (lane & 7) + (lane >> 3 & 1) * 8, col = d * 8 + (lane >> 4) * 8;
                u32 from = (u32)__cvta_generic_to_shared(v_tile + row * PAD + col), b[4];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(from));
#pragma unroll
                for (int j = 0; j < 2; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(o[d + j][0]), "+f"(o[d + j][1]), "+f"(o[d + j][2]), "+f"(o[d + j][3])
                                 : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(b[2 * j]), "r"(b[2 * j + 1]));
            }
        }
    }
}

// O = softmax(Q Kᵀ) V for 16 queries a warp, keys in chunks of KEYS through shared memory, D values a head (padded).
template <int D, int KEYS>
__device__ __forceinline__ void attend(
    half_t *out, int out_stride, const half_t *q, int q_stride, const half_t *kv, int kv_stride,
    int tokens, int queries, int heads, int head, float scale
) {
    const int PAD = D + 8; // rows 16 bytes apart modulo 128: no two of eight share a bank
    __shared__ __align__(16) half_t k_tile[2][KEYS * PAD];
    __shared__ __align__(16) half_t v_tile[2][KEYS * PAD];
    int warps = blockDim.x >> 5, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int group = lane >> 2, pair = (lane & 3) * 2;
    int tiles = (queries + warps * 16 - 1) / (warps * 16);
    int tile = blockIdx.x % tiles, h = blockIdx.x / tiles % heads;
    long long image = blockIdx.x / tiles / heads;
    int first = (tile * warps + warp) * 16;
    q += image * queries * q_stride + h * head;
    out += image * queries * out_stride + h * head;
    const half_t *k = kv + image * tokens * kv_stride + h * head;
    int to_value = heads * head;

    // 16 bytes a thread; what lies beyond the keys or the head is zero.
    auto fetch = [&](int stage, int from) {
        for (int i = threadIdx.x; i < KEYS * (D / 8); i += blockDim.x) {
            int row = i / (D / 8), col = i % (D / 8) * 8;
            int bytes = from + row < tokens && col < head ? 16 : 0;
            const half_t *source = bytes ? k + (long long)(from + row) * kv_stride + col : k;
            u32 to_k = (u32)__cvta_generic_to_shared(k_tile[stage] + row * PAD + col);
            u32 to_v = (u32)__cvta_generic_to_shared(v_tile[stage] + row * PAD + col);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_k), "l"(source), "r"(bytes));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_v), "l"(source + to_value), "r"(bytes));
        }
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    u32 qf[D / 16][4];
#pragma unroll
    for (int d = 0; d < D / 16; d++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = first + group + (i & 1) * 8, col = d * 16 + pair + (i >> 1) * 8;
            qf[d][i] = row < queries && col < head ? *(const u32 *)(q + (long long)row * q_stride + col) : 0u;
        }
    float o[D / 8][4];
#pragma unroll
    for (int d = 0; d < D / 8; d++) o[d][0] = o[d][1] = o[d][2] = o[d][3] = 0.f;
    float best[2] = {-1e30f, -1e30f}, total[2] = {0.f, 0.f};

    int chunks = (tokens + KEYS - 1) / KEYS;
    for (int chunk = 0; chunk < chunks; chunk++) {
        int stage = chunk & 1, left = tokens - chunk * KEYS;
        if (chunk + 1 < chunks) {
            fetch(stage ^ 1, (chunk + 1) * KEYS);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        if (first < queries) {
            if (left >= KEYS) attend_chunk<D, KEYS, true>(k_tile[stage], v_tile[stage], qf, o, best, total, scale, left);
            else attend_chunk<D, KEYS, false>(k_tile[stage], v_tile[stage], qf, o, best, total, scale, left);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        total[r] += __shfl_xor_sync(~0u, total[r], 1);
        total[r] += __shfl_xor_sync(~0u, total[r], 2);
        int row = first + group + r * 8;
        if (row < queries) {
            float inverse = 1.f / total[r];
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                int col = d * 8 + pair;
                if (col < head) *(u32 *)(out + (long long)row * out_stride + col) = pack2(o[d][2 * r] * inverse, o[d][2 * r + 1] * inverse);
            }
        }
    }
}

// Twice, so that a name is replaced before it is joined.
#define ATTENTION(D, KEYS) ATTENTION_OF(D, KEYS)
#define ATTENTION_OF(D, KEYS) \
    __global__ void __launch_bounds__(128, D > 64 ? 2 : 4) attention_##D(HMAT(out), CHMAT(q), CHMAT(kv), int tokens, int queries, int heads, int head, float scale) { \
        attend<D, KEYS>(out, out_stride, q, q_stride, kv, kv_stride, tokens, queries, heads, head, scale); \
    }

extern "C" {
// One size of heads is compiled alone, by whoever says HEAD: each takes its time.
#ifdef HEAD
#if HEAD <= 64
ATTENTION(HEAD, 64)
#else
ATTENTION(HEAD, 32)
#endif
#else

// Eight rows a block; fewer registers, and so more rows at a time, for rows of up to 1024 values.
#define LAYER_NORM(NAME, QUADS) \
    __global__ void NAME(HMAT(y), CMAT(x), const float *gain_shift, int gain_shift_stride, int rows, int cols, float eps) { \
        int r = blockIdx.x * 8 + (threadIdx.x >> 5); \
        if (r >= rows) return; \
        norm_row<QUADS>(cols, gain_shift, eps, \
            [&](int c) { return *(const float4 *)(x + (long long)r * x_stride + c); }, \
            [&](int c, float4 v) { *(uint2 *)(y + (long long)r * y_stride + c) = make_uint2(pack2(v.x, v.y), pack2(v.z, v.w)); }); \
        (void)gain_shift_stride; \
    }
LAYER_NORM(layer_norm_bf16, 8)
LAYER_NORM(layer_norm_wide_bf16, 16)
// Token t of an image: its patch (none for the first ones) plus its position, through a layer norm where there is one.
__global__ void embed_tokens(MAT(x), CHMAT(patches), CMAT(positions), const float *gain_shift, int gain_shift_stride, int rows, int tokens, int first, int cols, float eps) {
    int r = blockIdx.x * 8 + (threadIdx.x >> 5);
    if (r >= rows) return;
    int image = r / tokens, t = r % tokens;
    auto load = [&](int c) {
        float4 v = *(const float4 *)(positions + (long long)t * positions_stride + c);
        if (t >= first) {
            uint2 p = *(const uint2 *)(patches + ((long long)image * (tokens - first) + t - first) * patches_stride + c);
            v.x += low_half(p.x); v.y += high_half(p.x); v.z += low_half(p.y); v.w += high_half(p.y);
        }
        return v;
    };
    auto store = [&](int c, float4 v) { *(float4 *)(x + (long long)r * x_stride + c) = v; };
    if (gain_shift) norm_row<16>(cols, gain_shift, eps, load, store);
    else for (int c = (threadIdx.x & 31) * 4; c < cols; c += 128) store(c, load(c));
    (void)gain_shift_stride;
}
// The mean of the rows of a group but its first ones.
__global__ void mean_rows_bf16(MAT(out), CHMAT(x), int group, int skip, int cols) {
    ELEMENT(cols)
    float s = 0.f;
    for (int k = skip; k < group; k++) s += __uint_as_float((u32)x[((long long)r * group + k) * x_stride + c] << 16);
    AT(out, r, c) = s / (group - skip);
}
// In place, eight values a thread: x·σ(1.702 x), or with erf x·Φ(x), or that by tanh.
__global__ void activate_bf16(HMAT(x), int rows, int cols, int kind) {
    int eighths = (cols + 7) / 8;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * eighths) return;
    uint4 *at = (uint4 *)(x + i / eighths * x_stride + i % eighths * 8);
    uint4 eight = *at;
    u32 *words = (u32 *)&eight;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float a = low_half(words[k]), b = high_half(words[k]);
        if (kind == 0) { a = __fdividef(a, 1.f + __expf(-1.702f * a)); b = __fdividef(b, 1.f + __expf(-1.702f * b)); }
        else if (kind == 2) {
            a = __fdividef(a, 1.f + __expf(-1.5957691216f * (a + 0.044715f * a * a * a)));
            b = __fdividef(b, 1.f + __expf(-1.5957691216f * (b + 0.044715f * b * b * b)));
        } else { a *= 0.5f + 0.5f * erff(a * 0.70710678118654752f); b *= 0.5f + 0.5f * erff(b * 0.70710678118654752f); }
        words[k] = pack2(a, b);
    }
    *at = eight;
}
// Squares of `patch` pixels as rows, from pictures of side×side RGB values; spare columns are zero.
__global__ void patches_bf16(HMAT(out), CHMAT(pixels), int cols, int side, int patch) {
    int r = blockIdx.x, c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= out_stride) return;
    int across = side / patch, image = r / (across * across), place = r % (across * across);
    int y = place / across * patch + c / (3 * patch), x = place % across * patch * 3 + c % (3 * patch);
    out[(long long)r * out_stride + c] = c < cols ? pixels[(long long)image * pixels_stride + y * side * 3 + x] : (half_t)0;
}
#endif
}
