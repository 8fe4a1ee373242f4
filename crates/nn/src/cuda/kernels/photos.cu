// From the planes of JPEG files to a network's pixels, two launches for all photos together. Chroma is spread and colours are made with
// the numbers of the CPU's decoder (zune-jpeg), sizes change with those of vision's `preprocessing`: rows first, bytes in between.

// A photo of a launch, written word by word by `photos.rs`.
struct Photo {
    u32 luma, cb, cr;                        // where the planes begin
    int pitch, chroma_pitch;
    int width, height, chroma_width, chroma_height;
    int halved_across, halved_down, is_grey; // of the chroma
    int points;                              // so many pixels each way are made of 8 × 8 samples, by their lowest frequencies
    int x0, xx, xy, y0, yx, yy;              // where pixel (x, y) of the upright picture lies: (x0 + xx·x + xy·y, …)
    int first_column, columns, first_row, rows; // of the upright picture, what is read
    int taps_across, taps_down;              // of a pixel
    u32 across, down;                        // tables: the first source of each pixel, then the weights, tap by tap
    u32 between;                             // where its rows of bytes begin
    u32 number;                              // its row of the network's pixels
    u32 finished;                            // not 0: its pixels lie there in the tables, whole
};

#define FRACTION_BITS 22
#define HALF_UNIT (1 << (FRACTION_BITS - 1))
__device__ int to_byte(int sum) { return min(max(sum >> FRACTION_BITS, 0), 255); }

// Three quarters of the nearest sample, one of the next, down and then across.
__device__ int chroma(const unsigned char *plane, const Photo &p, int x, int y) {
    int column = x >> p.halved_across, row = y >> p.halved_down;
    int next_column = min(max(column + (x & 1 ? 1 : -1), 0), p.chroma_width - 1);
    const unsigned char *near = plane + (u64)row * p.chroma_pitch;
    int a = near[column], b = p.halved_across ? near[next_column] : a;
    if (p.halved_down) {
        int next_row = min(max(row + (y & 1 ? 1 : -1), 0), p.chroma_height - 1);
        const unsigned char *far = plane + (u64)next_row * p.chroma_pitch;
        a = (3 * a + far[column] + 2) >> 2;
        b = p.halved_across ? (3 * b + far[next_column] + 2) >> 2 : a;
    }
    return p.halved_across ? (3 * a + b + 2) >> 2 : a;
}

// What of a block's samples makes a pixel, by the lowest 2 frequencies, and by the lowest 4: half of the pixels, the others have it
// backwards.
__device__ const float LOWEST[3][8] = {
    {0.29837998f, 0.27198445f, 0.22321187f, 0.15948742f, 0.09051258f, 0.02678813f, -0.02198445f, -0.04837998f},
    {0.59439964f, 0.36602949f, 0.09183791f, -0.04641226f, -0.03022848f, 0.02286307f, 0.01926953f, -0.01775890f},
    {-0.13653224f, 0.18195789f, 0.47233326f, 0.43530482f, 0.14133592f, -0.08703423f, -0.06725691f, 0.05989150f},
};

// A sample of the reduced picture, whose block of 8 × 8 repeats what is last at the edges.
__device__ int lowest(const unsigned char *plane, int pitch, int width, int height, int points, int x, int y) {
    int i0 = x % points, j0 = y % points, other = points - 1, is_half = points == 4;
    const float *of_x = LOWEST[is_half + min(i0, other - i0)], *of_y = LOWEST[is_half + min(j0, other - j0)];
    float sum = 0.5f;
    for (int j = 0; j < 8; j++) {
        const unsigned char *row = plane + (u64)min(y / points * 8 + j, height - 1) * pitch;
        float across = 0;
        for (int i = 0; i < 8; i++) across += row[min(x / points * 8 + i, width - 1)] * of_x[2 * i0 > other ? 7 - i : i];
        sum += across * of_y[2 * j0 > other ? 7 - j : j];
    }
    return min(max((int)floorf(sum), 0), 255);
}

// A sample of the chroma that a pixel has.
__device__ int chroma_of(const unsigned char *plane, const Photo &p, int x, int y) {
    if (p.points == 8) return chroma(plane, p, x, y);
    x >>= p.halved_across, y >>= p.halved_down;
    return lowest(plane, p.chroma_pitch, p.chroma_width, p.chroma_height, p.points, x, y);
}

// A pixel of the upright picture, a byte a colour.
__device__ u32 colour(const unsigned char *planes, const Photo &p, int column, int row) {
    int x = p.x0 + p.xx * column + p.xy * row, y = p.y0 + p.yx * column + p.yy * row;
    const unsigned char *lumas = planes + p.luma;
    int luma = p.points == 8 ? lumas[(u64)y * p.pitch + x] : lowest(lumas, p.pitch, p.width, p.height, p.points, x, y);
    if (p.is_grey) return luma * 0x010101u;
    int cb = chroma_of(planes + p.cb, p, x, y) - 128, cr = chroma_of(planes + p.cr, p, x, y) - 128;
    int base = luma * 16384 + 8191;
    int r = (base + cr * 22970) >> 14, g = (base - cr * 11700 - cb * 5638) >> 14, b = (base + cb * 29032) >> 14;
    return min(max(r, 0), 255) | min(max(g, 0), 255) << 8 | min(max(b, 0), 255) << 16;
}

// Rows of `side` pixels: block y is the photo, blocks x share its rows.
extern "C" __global__ void photos_across(const u32 *tables, const unsigned char *planes, unsigned char *between, int side) {
    extern __shared__ u32 line[];
    const Photo p = ((const Photo *)tables)[blockIdx.y];
    if (p.finished) return;
    const int *first = (const int *)tables + p.across, *weights = first + side;
    for (int row = blockIdx.x; row < p.rows; row += gridDim.x) {
        for (int i = threadIdx.x; i < p.columns; i += blockDim.x)
            line[i] = colour(planes, p, p.first_column + i, p.first_row + row);
        __syncthreads();
        unsigned char *out = between + p.between + (u64)row * side * 3;
        for (int x = threadIdx.x; x < side; x += blockDim.x) {
            const u32 *from = line + (first[x] - p.first_column);
            int r = HALF_UNIT, g = HALF_UNIT, b = HALF_UNIT;
            for (int k = 0; k < p.taps_across; k++) {
                u32 pixel = from[k];
                int weight = weights[k * side + x];
                r += (int)(pixel & 255) * weight;
                g += (int)(pixel >> 8 & 255) * weight;
                b += (int)(pixel >> 16) * weight;
            }
            out[3 * x] = to_byte(r);
            out[3 * x + 1] = to_byte(g);
            out[3 * x + 2] = to_byte(b);
        }
        __syncthreads();
    }
}

// The network's pixels in bf16 by `normal`, 256 values a colour: block y is the photo, block x the row.
extern "C" __global__ void photos_down(
    const u32 *tables, const unsigned char *between, const unsigned short *normal, unsigned short *pixels, int stride, int side
) {
    const Photo p = ((const Photo *)tables)[blockIdx.y];
    int y = blockIdx.x, values = 3 * side;
    unsigned short *out = pixels + (u64)p.number * stride + (u64)y * values;
    if (p.finished) {
        const unsigned short *from = (const unsigned short *)(tables + p.finished) + (u64)y * values;
        for (int i = threadIdx.x; i < values; i += blockDim.x) out[i] = from[i];
        return;
    }
    const int *first = (const int *)tables + p.down, *weights = first + side + y;
    const unsigned char *rows = between + p.between + (u64)(first[y] - p.first_row) * values;
    for (int i = threadIdx.x; i < values; i += blockDim.x) {
        int sum = HALF_UNIT;
        for (int k = 0; k < p.taps_down; k++) sum += rows[(u64)k * values + i] * weights[k * side];
        out[i] = normal[i % 3 * 256 + to_byte(sum)];
    }
}
