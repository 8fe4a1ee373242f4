// Where fields of spherical harmonics are highest. Scores on grids are products; these kernels read the peaks off them.
#define MOST_PEAKS 64
#define MOST_NUMBERS 9216 // of a code: degree 95
extern "C" {
// The first of the highest scores of every row.
__global__ void row_argmax(u32 *best, CMAT(scores), int cols) {
    int r = blockIdx.x;
    float top = -__int_as_float(0x7f800000);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, AT(scores, r, c));
    top = block_max(top);
    __shared__ u32 at;
    if (threadIdx.x == 0) at = cols - 1;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) if (AT(scores, r, c) == top) { atomicMin(&at, (u32)c); break; }
    __syncthreads();
    if (threadIdx.x == 0) best[r] = at;
}
}
struct PeakGrid { const float *value; int rings, longitudes; };
// Whether grid point (ring, j) is as high as its eight neighbours; equal values are ordered by position, so that a plateau has one
// maximum. Across a pole the next ring is the same one, half a turn on.
__device__ bool is_peak(const PeakGrid &g, int ring, int j) {
    int n = g.longitudes, here = ring * n + j;
    float value = g.value[here];
    for (int row = -1; row <= 1; row++) {
        int other = ring + row, shift = 0;
        if (other < 0) { other = 0; shift = n / 2; }
        if (other >= g.rings) { other = g.rings - 1; shift = n / 2; }
        for (int side = -1; side <= 1; side++) {
            int at = other * n + (j + shift + side + n) % n;
            float there = g.value[at];
            if (there > value || (there == value && at > here)) return false;
        }
    }
    return true;
}
// Value, gradient and Hessian of one field at one point, by a warp: a lane takes the orders m = lane, lane + 32, …
struct FieldJet { double value, gu, gv, uu, uv, vv; };
__device__ double warp_total(double v) {
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    return v;
}
__device__ void tangents_of(const double *p, double *u, double *v) {
    // Any frame serves; this one is stable everywhere (Duff et al. 2017).
    double sign = p[2] >= 0.0 ? 1.0 : -1.0, a = -1.0 / (sign + p[2]), b = p[0] * p[1] * a;
    u[0] = 1.0 + sign * p[0] * p[0] * a; u[1] = sign * b; u[2] = -sign * p[0];
    v[0] = b; v[1] = sign + p[1] * p[1] * a; v[2] = -p[1];
}
__device__ FieldJet take_jet(const float *e, int degree, const double *steps, const double *diagonal, const double *p) {
    double sums[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0}; // f, z, zz, x, y, xz, yz, xx, xy
    for (int m = threadIdx.x & 31; m <= degree; m += 32) {
        double before[3] = {0, 0, 0}, now[3] = {diagonal[m], 0, 0}, c[3], s[3];
        int centre = m * m + m;
        for (int k = 0; k < 3; k++) { c[k] = now[k] * e[centre + m]; s[k] = m ? now[k] * e[centre - m] : 0.0; }
        for (int l = m + 1; l <= degree; l++) {
            const double *step = steps + 2 * (l * (degree + 1) + m);
            double a = step[0], az = a * p[2], rest = step[1];
            double next0 = az * now[0] + rest * before[0];
            double next1 = az * now[1] + (a * now[0] + rest * before[1]);
            double next2 = az * now[2] + (2.0 * a * now[1] + rest * before[2]);
            for (int k = 0; k < 3; k++) before[k] = now[k];
            now[0] = next0; now[1] = next1; now[2] = next2;
            centre = l * l + l;
            double plus = e[centre + m], minus = m ? e[centre - m] : 0.f;
            for (int k = 0; k < 3; k++) { c[k] += now[k] * plus; s[k] += now[k] * minus; }
        }
        // Powers m, m − 1 and m − 2 of x + iy.
        double re = 1.0, im = 0.0, re1 = 0.0, im1 = 0.0, re2 = 0.0, im2 = 0.0;
        for (int k = 0; k < m; k++) {
            re2 = re1; im2 = im1; re1 = re; im1 = im;
            re = re1 * p[0] - im1 * p[1];
            im = re1 * p[1] + im1 * p[0];
        }
        double first = m, second = (double)m * (m - 1);
        re1 *= first; im1 *= first; re2 *= second; im2 *= second;
        sums[0] += c[0] * re + s[0] * im;
        sums[1] += c[1] * re + s[1] * im;
        sums[2] += c[2] * re + s[2] * im;
        sums[3] += c[0] * re1 + s[0] * im1; sums[4] += s[0] * re1 - c[0] * im1;
        sums[5] += c[1] * re1 + s[1] * im1; sums[6] += s[1] * re1 - c[1] * im1;
        sums[7] += c[0] * re2 + s[0] * im2; sums[8] += s[0] * re2 - c[0] * im2;
    }
    for (int k = 0; k < 9; k++) sums[k] = warp_total(sums[k]);
    double u[3], v[3], g[3] = {sums[3], sums[4], sums[1]};
    double h[3][3] = {{sums[7], sums[8], sums[5]}, {sums[8], -sums[7], sums[6]}, {sums[5], sums[6], sums[2]}};
    tangents_of(p, u, v);
    double outward = p[0] * g[0] + p[1] * g[1] + p[2] * g[2];
    FieldJet jet = {sums[0], 0, 0, -outward, 0, -outward};
    for (int i = 0; i < 3; i++) {
        jet.gu += u[i] * g[i]; jet.gv += v[i] * g[i];
        for (int k = 0; k < 3; k++) {
            jet.uu += u[i] * h[i][k] * u[k]; jet.uv += u[i] * h[i][k] * v[k]; jet.vv += v[i] * h[i][k] * v[k];
        }
    }
    return jet;
}
__device__ void step_along(const double *p, double a, double b, double *to) {
    double u[3], v[3], length = sqrt(a * a + b * b), sine, cosine, norm = 0.0;
    tangents_of(p, u, v);
    sincos(length, &sine, &cosine);
    double scale = length > 0.0 ? sine / length : 0.0;
    for (int k = 0; k < 3; k++) { to[k] = cosine * p[k] + scale * (a * u[k] + b * v[k]); norm += to[k] * to[k]; }
    norm = 1.0 / sqrt(norm);
    for (int k = 0; k < 3; k++) to[k] *= norm;
}
extern "C" {
// The exact maximum of every field (row of `codes`) from its scores on a ring grid: peaks that may hold the largest mass are climbed
// by Newton steps, a warp each, and the one with the largest Laplace mass is the answer: x, y, z, and the value there.
__global__ void exact_peaks(double *answers, CMAT(codes), CMAT(scores), int degree, int rings, int longitudes,
                            const double *steps, const double *diagonal) {
    __shared__ float shared_code[MOST_NUMBERS];
    __shared__ int peaks[MOST_PEAKS], found;
    __shared__ double mass[MOST_PEAKS], place[MOST_PEAKS][4];
    int r = blockIdx.x, dim = (degree + 1) * (degree + 1), points = rings * longitudes;
    float top = -__int_as_float(0x7f800000);
    PeakGrid grid = {scores + (long long)r * scores_stride, rings, longitudes};
    for (int c = threadIdx.x; c < points; c += blockDim.x) top = fmaxf(top, grid.value[c]);
    top = block_max(top);
    for (int k = threadIdx.x; k < dim; k += blockDim.x) shared_code[k] = AT(codes, r, k);
    __syncthreads();
    float mean = shared_code[0] * 0.28209479177387814f, floor = mean + 0.45f * (top - mean);
    for (int attempt = 0; attempt < 40; attempt++) {
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        for (int c = threadIdx.x; c < points; c += blockDim.x)
            if (grid.value[c] >= floor && is_peak(grid, c / longitudes, c % longitudes)) {
                int k = atomicAdd(&found, 1);
                if (k < MOST_PEAKS) peaks[k] = c;
            }
        __syncthreads();
        if (found <= MOST_PEAKS) break;
        floor = 0.5f * (floor + top); // too many: only the higher ones
        __syncthreads();
    }
    int count = min(found, MOST_PEAKS), warps = blockDim.x / 32;
    double spacing = 3.141592653589793 / rings;
    for (int k = threadIdx.x / 32; k < count; k += warps) {
        double sine, cosine, s, c, p[3], next[3];
        sincos((peaks[k] / longitudes + 0.5) * spacing, &sine, &cosine);
        sincos(6.283185307179586 * (peaks[k] % longitudes) / longitudes, &s, &c);
        p[0] = sine * c; p[1] = sine * s; p[2] = cosine;
        FieldJet jet = take_jet(shared_code, degree, steps, diagonal, p);
        double limit = spacing;
        for (int step = 0; step < 30; step++) {
            double det = jet.uu * jet.vv - jet.uv * jet.uv, a, b, slope = sqrt(jet.gu * jet.gu + jet.gv * jet.gv);
            if (jet.uu < 0.0 && det > 0.0) {
                a = -(jet.vv * jet.gu - jet.uv * jet.gv) / det;
                b = -(jet.uu * jet.gv - jet.uv * jet.gu) / det;
            } else {
                double along = slope > 0.0 ? limit / slope : 0.0;
                a = jet.gu * along; b = jet.gv * along;
            }
            double length = sqrt(a * a + b * b);
            if (length > limit) { a *= limit / length; b *= limit / length; }
            step_along(p, a, b, next);
            if (length < 1e-9) { for (int i = 0; i < 3; i++) p[i] = next[i]; break; }
            FieldJet there = take_jet(shared_code, degree, steps, diagonal, next);
            if (there.value >= jet.value - 1e-12 * fabs(jet.value)) {
                jet = there;
                for (int i = 0; i < 3; i++) p[i] = next[i];
            } else limit = 0.25 * fmin(length, limit);
        }
        if ((threadIdx.x & 31) == 0) {
            double sharp = sqrt(fmax(jet.uu * jet.vv - jet.uv * jet.uv, 0.0));
            mass[k] = jet.value + (sharp > 0.0 ? log(6.283185307179586 / sharp) : 2.5310242469692907);
            for (int i = 0; i < 3; i++) place[k][i] = p[i];
            place[k][3] = jet.value;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int best = 0;
        // Peaks were noted in any order: equal masses are ordered by their grid points.
        for (int k = 1; k < count; k++)
            if (mass[k] > mass[best] || (mass[k] == mass[best] && peaks[k] < peaks[best])) best = k;
        for (int i = 0; i < 4; i++) answers[4 * (long long)r + i] = count ? place[best][i] : (i == 2 ? 1.0 : 0.0);
    }
}
}
