// Convolutions of pictures whose pixels are rows, channels side by side (NHWC); SAME padding, `before` zeros first.
__device__ __forceinline__ float relu6(float v) { return fminf(fmaxf(v, 0.f), 6.f); }
extern "C" {
// Row (picture, y, x) of out: the kernel×kernel pixels of 3 values under output pixel (y, x).
__global__ void conv_patches(MAT(out), CMAT(pixels), int cols, int side, int out_side, int kernel, int step, int before) {
    ELEMENT(cols)
    int picture = r / (out_side * out_side), place = r % (out_side * out_side);
    int y = place / out_side * step + c / (3 * kernel) - before, x = place % out_side * step + c / 3 % kernel - before;
    bool inside = y >= 0 && y < side && x >= 0 && x < side;
    AT(out, r, c) = inside ? pixels[(long long)picture * pixels_stride + (y * side + x) * 3 + c % 3] : 0.f;
}
__global__ void depthwise(MAT(out), CMAT(x), CMAT(taps), CMAT(bias), int cols, int side, int out_side, int kernel, int step, int before, int clamp) {
    ELEMENT(cols)
    int picture = r / (out_side * out_side), place = r % (out_side * out_side);
    int top = place / out_side * step - before, left = place % out_side * step - before;
    float sum = bias[c];
    for (int ky = 0; ky < kernel; ky++) {
        int y = top + ky;
        if (y < 0 || y >= side) continue;
        for (int kx = 0; kx < kernel; kx++) {
            int across = left + kx;
            if (across < 0 || across >= side) continue;
            float v = AT(x, picture * side * side + y * side + across, c);
            sum += AT(taps, ky * kernel + kx, c) * (clamp ? relu6(v) : v);
        }
    }
    AT(out, r, c) = relu6(sum);
    (void)bias_stride;
}
__global__ void clamp_relu6(MAT(x), int cols) {
    ELEMENT(cols)
    AT(x, r, c) = relu6(AT(x, r, c));
}
// The mean of relu6 over `pixels` rows a picture.
__global__ void mean_relu6(MAT(out), CMAT(x), int cols, int pixels) {
    ELEMENT(cols)
    float sum = 0.f;
    for (int p = 0; p < pixels; p++) sum += relu6(AT(x, r * pixels + p, c));
    AT(out, r, c) = sum / pixels;
}
}
