// Kernels of training. The host puts in front of this file: `real` (float or double), the layout constants.
//
// Sums run in a fixed order, without atomics: the same numbers give the same bits. Sums over rows, samples and
// parameters are in double, whatever `real` is.

typedef unsigned int u32;
typedef unsigned long long u64;

// Four numbers, loaded and stored together.
struct __align__(16) Four { real v[4]; };

// Words of the control block.
enum { NEXT, NOW, FAILED };

struct Batches { u64 samples, count; };

// Places of the order that a batch begins with, and how many it has.
__device__ inline void batch_of(Batches batches, const u64* control, u64* at, u64* size) {
    u64 b = batches.count > 1 ? control[NEXT] % batches.count : 0;
    *at = batches.samples * b / batches.count;
    *size = batches.samples * (b + 1) / batches.count - *at;
}

// The sum over the block, for every thread; blockDim.x is a multiple of 32.
__device__ double block_sum(double value) {
    __shared__ double parts[32];
    for (int o = 16; o > 0; o >>= 1) value += __shfl_xor_sync(0xffffffffu, value, o);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = value;
    __syncthreads();
    double sum = 0.0;
    for (u32 w = 0; w < blockDim.x >> 5; w++) sum += parts[w];
    return sum;
}

__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
__device__ inline float distribution(float x) { return normcdff(x); }
__device__ inline double distribution(double x) { return normcdf(x); }
__device__ inline float root_of(float x) { return sqrtf(x); }
__device__ inline double root_of(double x) { return sqrt(x); }
__device__ inline float hyperbolic(float x) { return tanhf(x); }
__device__ inline double hyperbolic(double x) { return tanh(x); }

__device__ inline real logistic(real x) {
    real e = exponential(x < real(0) ? x : -x);
    real s = real(1) / (real(1) + e);
    return x < real(0) ? e * s : s;
}

// Value and derivative of an activation.
__device__ inline void curve(int kind, real x, real* value, real* slope) {
    const real one = real(1);
    if (kind == NONE) {
        *value = x;
        *slope = one;
    } else if (kind == GELU) {
        real phi = distribution(x);
        *value = x * phi;
        *slope = phi + x * (real(0.3989422804014327) * exponential(real(-0.5) * x * x));
    } else if (kind == GELU_TANH) {
        real square = x * x, c = real(1.5957691216057308);
        real s = logistic(c * x * (one + real(0.044715) * square));
        real inner = c * (one + real(0.134145) * square);
        *value = x * s;
        *slope = s + x * ((s - s * s) * inner);
    } else if (kind == TANH) {
        real t = hyperbolic(x);
        *value = t;
        *slope = one - t * t;
    } else if (kind == RELU) {
        // This order keeps NaN.
        bool low = x <= real(0);
        *value = low ? real(0) : x;
        *slope = low ? real(0) : one;
    } else {
        real s = logistic(x);
        *value = x * s;
        *slope = s * (one + x * (one - s));
    }
}

// Grid: columns of the block in y, four rows a thread in x.
extern "C" __global__ void gather(const real* inputs, real* batch, u32 ld, Batches batches, const u32* order,
                                  const u64* control, u32 first, u32 columns) {
    u32 row = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    u32 j = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= ld || j >= columns) return;
    u64 at, size;
    batch_of(batches, control, &at, &size);
    Four numbers = {};
    if (first + j < size) {
        u64 k = order[at + first + j];
        numbers = *(const Four*)(inputs + k * ld + row);
    }
    *(Four*)(batch + (u64)j * ld + row) = numbers;
}

// As gather, for inputs at points: a sample has a column for each of them, and samples run faster than points in the
// batch. Grid: columns of the batch in y, four rows a thread in x.
extern "C" __global__ void gather_points(const real* inputs, real* batch, u32 ld, Batches batches, const u32* order,
                                         const u64* control, u32 first, u32 samples, u32 points) {
    u32 row = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    u64 j = (u64)blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= ld || j >= (u64)samples * points) return;
    u64 at, size;
    batch_of(batches, control, &at, &size);
    u64 point = j / samples, place = first + j % samples;
    Four numbers = {};
    if (place < size) {
        u64 k = order ? (u64)order[at + place] : at + place;
        numbers = *(const Four*)(inputs + (k * points + point) * ld + row);
    }
    *(Four*)(batch + j * ld + row) = numbers;
}

// Grid as for gather. Kind NONE: values are their arguments.
extern "C" __global__ void activate(real* values, real* slopes, u32 width, u32 ld, u32 columns, int kind) {
    u32 row = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    u32 j = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= ld || j >= columns) return;
    u64 place = (u64)j * ld + row;
    Four x = *(const Four*)(values + place), slope;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        if (row + i < width) {
            curve(kind, x.v[i], &x.v[i], &slope.v[i]);
        } else {
            x.v[i] = row + i == width ? real(1) : real(0);
            slope.v[i] = real(0);
        }
    }
    *(Four*)(values + place) = x;
    *(Four*)(slopes + place) = slope;
}

// `len` is a multiple of four.
extern "C" __global__ void slope(real* delta, const real* slopes, u64 len) {
    u64 place = 4 * ((u64)blockIdx.x * blockDim.x + threadIdx.x);
    if (place >= len) return;
    Four a = *(const Four*)(delta + place), b = *(const Four*)(slopes + place);
    #pragma unroll
    for (int i = 0; i < 4; i++) a.v[i] *= b.v[i];
    *(Four*)(delta + place) = a;
}

struct LossInput {
    // What is compared, then the gradient by it.
    real* compared;
    const real* targets;
    const double* outside_squared;
    const double* norms;
    const double* counts;
    // The order of samples; null: as they come.
    const u32* order;
    const u64* control;
    // Losses and relative errors of the batch.
    double* losses;
    double* relatives;
    // Factors of each sample, null if there are none; their first numbers and numbers of rows.
    const real* factors;
    const u64* factor_starts;
    const u32* factor_rows;
    real* outputs;
    // Points of each sample's band, null if there are none.
    const u64* band_starts;
    const u32* band_points;
    const real* band_outside;
    const real* modes;
    real* residuals;
    Batches batches;
    double scale, relative, mean_square, band, epsilon, inside, outside;
    u32 rows, ld, target_ld, outputs_width, outputs_ld, modes_ld, band_longest, first;
};

// c = R_k b.
__device__ void through(const LossInput& in, u64 k, u32 rows, const real* b, real* c) {
    const real* r = in.factors + in.factor_starts[k];
    for (u32 i = threadIdx.x; i < rows; i += blockDim.x) {
        real sum = 0;
        for (u32 q = 0; q < in.outputs_width; q++) sum += r[(u64)q * rows + i] * b[q];
        c[i] = sum;
    }
    __syncthreads();
}

// b = R_k' c, a warp a column.
__device__ void back(const LossInput& in, u64 k, u32 rows, const real* c, real* b) {
    __syncthreads();
    const real* r = in.factors + in.factor_starts[k];
    u32 lane = threadIdx.x & 31;
    for (u32 q = threadIdx.x >> 5; q < in.outputs_ld; q += blockDim.x >> 5) {
        real sum = 0;
        if (q < in.outputs_width)
            for (u32 i = lane; i < rows; i += 32) sum += r[(u64)q * rows + i] * c[i];
        for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
        if (lane == 0) b[q] = sum;
    }
}

// Errors at the points of the band into `residuals`; returns the sum of their squares.
__device__ double band_errors(const LossInput& in, u64 k, const real* e, real* residuals) {
    u64 start = in.band_starts[k], points = in.band_starts[k + 1] - start;
    u32 lane = threadIdx.x & 31;
    double squares = 0.0;
    __syncthreads();
    for (u64 p = threadIdx.x >> 5; p < points; p += blockDim.x >> 5) {
        const real* u = in.modes + (u64)in.band_points[start + p] * in.modes_ld;
        real sum = 0;
        for (u32 i = lane; i < in.rows; i += 32) sum += u[i] * e[i];
        for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
        real r = real(in.scale) * sum - in.band_outside[start + p];
        if (lane == 0) {
            residuals[p] = r;
            squares += (double)r * (double)r;
        }
    }
    return block_sum(squares);
}

// What the loss of a sample comes to: by one thread, for divisions in double are slow.
struct Verdict {
    double loss, relative;
    // Factors of the error, and of residuals in the band.
    real all, extra;
};

__device__ Verdict judge(const LossInput& in, u64 k, double off, double in_band, u64 size) {
    double s = in.scale, weight = 1.0 / (double)size;
    double squared = s * s * off + in.outside_squared[k], root = sqrt(squared);
    double norm = in.norms[k], by_norm = 1.0 / (norm + in.epsilon), count = in.counts[k];
    double loss = in.relative * root * by_norm + in.mean_square * squared / count;
    // Half the derivative of the loss by the squared error.
    double slope = in.mean_square / count, extra = 0.0;
    if (in.relative > 0.0 && root > 0.0) slope += 0.5 * in.relative * by_norm / root;
    if (in.band_starts) {
        double points = (double)(in.band_starts[k + 1] - in.band_starts[k]);
        double total = in.inside * points + in.outside * (count - points);
        extra = in.band * (in.inside - in.outside) / total;
        loss += in.band * in.outside * squared / total + extra * in_band;
        slope += in.band * in.outside / total;
    }
    double relative = norm > 0.0 ? root / norm : root;
    return {loss, relative, real(2.0 * s * s * weight * slope), real(2.0 * s * weight * extra)};
}

// A block a sample.
extern "C" __global__ void loss(LossInput in) {
    __shared__ Verdict verdict;
    u32 j = blockIdx.x;
    u64 at, size;
    batch_of(in.batches, in.control, &at, &size);
    real* c = in.compared + (u64)j * in.ld;
    real* b = in.factors ? in.outputs + (u64)j * in.outputs_ld : 0;
    u64 place = (u64)in.first + j;
    if (place >= size) {
        for (u32 i = threadIdx.x; i < in.ld; i += blockDim.x) c[i] = 0;
        if (b) for (u32 i = threadIdx.x; i < in.outputs_ld; i += blockDim.x) b[i] = 0;
        if (threadIdx.x == 0) in.losses[place] = in.relatives[place] = 0.0;
        return;
    }
    u64 k = in.order ? (u64)in.order[at + place] : at + place;
    u32 rows = b ? in.factor_rows[k] : in.rows;
    if (b) through(in, k, rows, b, c);

    const real* t = in.targets + k * in.target_ld;
    double off = 0.0;
    for (u32 i = 4 * threadIdx.x; i < in.ld; i += 4 * blockDim.x) {
        Four e = *(const Four*)(c + i), u = *(const Four*)(t + i);
        #pragma unroll
        for (int q = 0; q < 4; q++) {
            e.v[q] = i + q < rows ? e.v[q] - u.v[q] : real(0);
            off += (double)e.v[q] * (double)e.v[q];
        }
        *(Four*)(c + i) = e;
    }
    off = block_sum(off);
    real* residuals = in.residuals + (u64)j * in.band_longest;
    double in_band = in.band_starts ? band_errors(in, k, c, residuals) : 0.0;
    if (threadIdx.x == 0) {
        verdict = judge(in, k, off, in_band, size);
        in.losses[place] = verdict.loss;
        in.relatives[place] = verdict.relative;
    }
    __syncthreads();
    if (in.band_starts) {
        u64 start = in.band_starts[k], points = in.band_starts[k + 1] - start;
        for (u32 i = threadIdx.x; i < rows; i += blockDim.x) {
            real sum = c[i] * verdict.all;
            for (u64 p = 0; p < points; p++)
                sum += in.modes[(u64)in.band_points[start + p] * in.modes_ld + i] * (verdict.extra * residuals[p]);
            c[i] = sum;
        }
    } else {
        for (u32 i = 4 * threadIdx.x; i < in.ld; i += 4 * blockDim.x) {
            Four e = *(const Four*)(c + i);
            #pragma unroll
            for (int q = 0; q < 4; q++) e.v[q] *= verdict.all;
            *(Four*)(c + i) = e;
        }
    }
    if (b) back(in, k, rows, c, b);
}

// One block. With `count` the means are those of the step NEXT, which becomes NOW.
extern "C" __global__ void total(const double* losses, const double* relatives, Batches batches, u64* control,
                                 double* log, u64 log_length, int count) {
    u64 at, size;
    batch_of(batches, control, &at, &size);
    double loss = 0.0, relative = 0.0;
    for (u64 j = threadIdx.x; j < size; j += blockDim.x) {
        loss += losses[j];
        relative += relatives[j];
    }
    loss = block_sum(loss);
    relative = block_sum(relative);
    if (threadIdx.x > 0) return;
    u64 now = count ? control[NEXT] : 0;
    double* entry = log + 3 * (now % log_length);
    entry[0] = loss / (double)size;
    entry[1] = relative / (double)size;
    if (count) {
        control[NOW] = now;
        control[NEXT] = now + 1;
    }
}

// One partial sum a block.
extern "C" __global__ void squares(const real* gradient, u64 len, double* parts) {
    double sum = 0.0;
    u64 stride = 4 * (u64)gridDim.x * blockDim.x;
    for (u64 i = 4 * ((u64)blockIdx.x * blockDim.x + threadIdx.x); i < len; i += stride) {
        Four g = *(const Four*)(gradient + i);
        #pragma unroll
        for (int q = 0; q < 4; q++) sum += (double)g.v[q] * (double)g.v[q];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

struct Step { real size, root, shrink; };

struct UpdateInput {
    real* parameters;
    real* first;
    real* second;
    const real* gradient;
    const double* parts;
    const Step* steps;
    u64* control;
    double* log;
    u64 len, log_length;
    // Negative: no clipping.
    double clip;
    real l2, keep1, beta2, keep2, epsilon;
    u32 part_count;
};

extern "C" __global__ void update(UpdateInput in) {
    double sum = 0.0;
    for (u32 i = threadIdx.x; i < in.part_count; i += blockDim.x) sum += in.parts[i];
    double norm = sqrt(block_sum(sum));
    u64 now = in.control[NOW];
    double* entry = in.log + 3 * (now % in.log_length);
    // After a step that is not finite nothing changes any more.
    bool bad = !isfinite(norm) || !isfinite(entry[0]);
    bool failed = in.control[FAILED] != 0;
    if (blockIdx.x == 0 && threadIdx.x == 0 && !failed) {
        entry[2] = norm;
        if (bad) in.control[FAILED] = now + 1;
    }
    if (bad || failed) return;

    u64 i = 4 * ((u64)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= in.len) return;
    double shortened = in.clip / (norm + 1e-6);
    real factor = real(in.clip < 0.0 || shortened > 1.0 ? 1.0 : shortened);
    Step step = in.steps[now];
    Four p = *(Four*)(in.parameters + i), m = *(Four*)(in.first + i), v = *(Four*)(in.second + i);
    Four g = *(const Four*)(in.gradient + i);
    #pragma unroll
    for (int q = 0; q < 4; q++) {
        real h = g.v[q] * factor + in.l2 * p.v[q];
        m.v[q] += in.keep1 * (h - m.v[q]);
        v.v[q] = in.beta2 * v.v[q] + in.keep2 * (h * h);
        p.v[q] = p.v[q] * step.shrink - step.size * (m.v[q] / (root_of(v.v[q]) * step.root + in.epsilon));
    }
    *(Four*)(in.parameters + i) = p;
    *(Four*)(in.first + i) = m;
    *(Four*)(in.second + i) = v;
}
