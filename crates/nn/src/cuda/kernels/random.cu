extern "C" {
// `first`: rows of a larger batch before the first of ours.
__global__ void fill_random(MAT(out), int cols, const u32 *state, long long first, u32 stream, int kind) {
    ELEMENT(cols)
    u64 number = (u64)(first + r) * cols + c;
    AT(out, r, c) = kind == 0 ? to_uniform(philox_word(state, stream, number)) : philox_normal(state, stream, number);
}
// Rows of noisy codes at drawn times, four columns a thread: what fill_random, fill_indices, mix_rows and gather_rows give.
__global__ void noise_codes(MAT(noisy), MAT(noise), MAT(value), u32 *t, CMAT(code), CMAT(mix), CMAT(times), int cols,
                            int table_rows, const u32 *state, long long first, u32 noise_stream, u32 time_stream) {
    FOURS(cols)
    u32 row = (u32)(((u64)philox_word(state, time_stream, first + r) * table_rows) >> 32);
    if (c == 0) { t[r] = row; AT(value, r, 0) = AT(times, row, 0); }
    float a = AT(mix, row, 0), b = AT(mix, row, 1), z[4], x[4];
    philox_normals(state, noise_stream, (u64)(first + r) * cols + c, z);
    load_four(&AT(code, r, c), left, x);
    for (int k = 0; k < 4; k++) x[k] = a * x[k] + b * z[k];
    store_four(&AT(noise, r, c), left, z);
    store_four(&AT(noisy, r, c), left, x);
}
__global__ void fill_indices(u32 *out, int len, u32 bound, const u32 *state, long long first, u32 stream) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < len) out[i] = (u32)(((u64)philox_word(state, stream, first + i) * bound) >> 32);
}
__global__ void drop_rows(MAT(out), CMAT(x), int cols, float p, const u32 *state, long long first, u32 stream) {
    ELEMENT(cols)
    AT(out, r, c) = to_uniform(philox_word(state, stream, first + r)) >= p ? AT(x, r, c) : 0.f;
}
// Noise that belongs to a row: `rows` holds [key lo, key hi, number] for each.
__device__ float row_normal(const u32 *seed, const u32 *rows, u32 stream, int r, int c, int cols) {
    u32 state[4] = {seed[0], seed[1], rows[3 * r], rows[3 * r + 1]};
    return philox_normal(state, stream, (u64)rows[3 * r + 2] * cols + c);
}
__global__ void fill_row_noise(MAT(out), int cols, const u32 *seed, const u32 *rows, u32 stream) {
    ELEMENT(cols)
    AT(out, r, c) = row_normal(seed, rows, stream, r, c, cols);
}
__global__ void sampler_step(MAT(x), MAT(x0), CMAT(prediction), int cols, float x0_from_x, float x0_from_prediction,
                             float x_from_x, float x_from_x0, float x_from_previous_x0, float x_from_noise,
                             const u32 *seed, const u32 *rows, u32 stream) {
    ELEMENT(cols)
    float v = AT(x, r, c);
    float clean = x0_from_x * v + x0_from_prediction * AT(prediction, r, c);
    float next = x_from_x * v + x_from_x0 * clean + x_from_previous_x0 * AT(x0, r, c);
    if (x_from_noise != 0.f) next += x_from_noise * row_normal(seed, rows, stream, r, c, cols);
    AT(x, r, c) = next;
    AT(x0, r, c) = clean;
}
__global__ void advance_counter(u32 *state) {
    if (++state[2] == 0) ++state[3];
}
}
