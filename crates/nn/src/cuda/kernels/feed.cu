// What a training step reads, made on the device: rows drawn from a table that lies in memory.
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
}
