// Kernels of kernel regression, in double. The host puts the numbers of the radial kernels in front of this file.
//
// Every entry is computed by one thread: the same numbers give the same bits.

typedef unsigned int u32;
typedef unsigned long long u64;

// k(r) from r^2 / l^2.
__device__ inline double value(int kind, double q) {
    if (kind == MATERN) {
        double s = sqrt(5.0 * q);
        return (1.0 + s + s * s / 3.0) * exp(-s);
    }
    if (kind == MULTIQUADRIC) return 1.0 / sqrt(1.0 + q);
    return exp(-0.5 * q);
}

// w in grad k(x, z) = w (x - z) / l^2, from r^2 / l^2.
__device__ inline double slope(int kind, double q) {
    if (kind == MATERN) {
        double s = sqrt(5.0 * q);
        return -(5.0 / 3.0) * (1.0 + s) * exp(-s);
    }
    if (kind == MULTIQUADRIC) {
        double t = 1.0 + q;
        return -1.0 / (t * sqrt(t));
    }
    return -exp(-0.5 * q);
}

// Products of columns become squared distances; `within`: of columns among themselves.
extern "C" __global__ void distances(double* gram, const double* a, const double* b, u32 rows, u32 columns, int within) {
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (u64)rows * columns) return;
    u32 i = (u32)(at % rows), j = (u32)(at / rows);
    double d = a[i] + b[j] - 2.0 * gram[at];
    gram[at] = (within && i == j) || d < 0.0 ? 0.0 : d;
}

// Kernel values of squared distances, with a nugget on the diagonal.
extern "C" __global__ void kernel_values(
    const double* squared, double* values, u32 rows, u32 columns, int kind, double inverse, double nugget
) {
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (u64)rows * columns) return;
    double k = value(kind, squared[at] * inverse);
    values[at] = at % rows == at / rows ? k + nugget : k;
}

// weighted(slot * each + r, i) *= w(i, points[slot]); or, `from` not null, that factor times from(r, i).
// Squared distances in the lower half.
extern "C" __global__ void weigh(
    double* weighted, const double* from, const double* squared, const u32* points,
    u32 each, u32 rows, u32 samples, int kind, double inverse
) {
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (u64)rows * samples) return;
    u32 row = (u32)(at % rows), i = (u32)(at / rows), j = points[row / each];
    u32 low = i > j ? i : j, high = i > j ? j : i;
    double w = inverse * slope(kind, squared[(u64)high * samples + low] * inverse);
    weighted[at] = w * (from ? from[(u64)i * each + row % each] : weighted[at]);
}

// J = sums z_j' - J, row by row; z has one column per sample.
extern "C" __global__ void jacobians(
    double* jacobian, const double* sums, const double* z, const u32* points, u32 each, u32 rows, u32 features
) {
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (u64)rows * features) return;
    u32 row = (u32)(at % rows), b = (u32)(at / rows);
    jacobian[at] = sums[row] * z[(u64)points[row / each] * features + b] - jacobian[at];
}
