// CUB behind a few C functions, so that the benchmark can time it in its own process without a C++ compiler of its own.
//
// Build: nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o libwarpwright_cub.so cub.cu
// (the bundle's run.sh does). Types and operations are numbers that bench/src/peers/cub.rs repeats. Every function
// follows CUB's own protocol: with temp == nullptr it only writes the bytes of temporary memory to *temp_bytes. The
// return value is the cudaError_t.
//
// Sums of 16-bit elements accumulate in f32 and give f32, as sums in the elements' own precision would be of no use;
// the elements are still read through a plain pointer, so CUB keeps its 16-byte loads.

#include <cstdint>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace {

enum Type { F32 = 0, F64 = 1, F16 = 2, BF16 = 3, I32 = 4 };
enum Operation { SUM = 0, SUM_SQUARES = 1, MIN = 2, MAX = 3, DOT = 4 };

// What the elements of a type are added in.
template <class T> struct Accumulator { using type = T; };
template <> struct Accumulator<__half> { using type = float; };
template <> struct Accumulator<__nv_bfloat16> { using type = float; };

// Addition in the accumulator's type: cuda::std::plus itself where that is the elements' type.
struct PlusF32 {
    __host__ __device__ float operator()(float x, float y) const { return x + y; }
};
template <class T> struct Addition { using type = cuda::std::plus<>; };
template <> struct Addition<__half> { using type = PlusF32; };
template <> struct Addition<__nv_bfloat16> { using type = PlusF32; };

template <class T> struct Square {
    using A = typename Accumulator<T>::type;
    __host__ __device__ A operator()(T x) const {
        const A wide = static_cast<A>(x);
        return wide * wide;
    }
};

template <class T> struct Product {
    using A = typename Accumulator<T>::type;
    const T* x;
    const T* y;
    __device__ A operator()(int64_t i) const { return static_cast<A>(x[i]) * static_cast<A>(y[i]); }
};

template <class T>
cudaError_t reduce(int operation, const void* px, const void* py, int64_t n, void* out, void* temp, size_t* bytes,
                   cudaStream_t stream) {
    using A = typename Accumulator<T>::type;
    using Plus = typename Addition<T>::type;
    const T* x = static_cast<const T*>(px);
    const T* y = static_cast<const T*>(py);
    switch (operation) {
        case SUM:
            return cub::DeviceReduce::Reduce(temp, *bytes, x, static_cast<A*>(out), n, Plus{}, A(0), stream);
        case SUM_SQUARES:
            return cub::DeviceReduce::TransformReduce(temp, *bytes, x, static_cast<A*>(out), n, Plus{}, Square<T>{},
                                                      A(0), stream);
        case MIN: return cub::DeviceReduce::Min(temp, *bytes, x, static_cast<T*>(out), n, stream);
        case MAX: return cub::DeviceReduce::Max(temp, *bytes, x, static_cast<T*>(out), n, stream);
        case DOT: {
            auto products = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), Product<T>{x, y});
            return cub::DeviceReduce::Reduce(temp, *bytes, products, static_cast<A*>(out), n, Plus{}, A(0), stream);
        }
        default: return cudaErrorInvalidValue;
    }
}

template <class T>
cudaError_t argmax(const void* x, int64_t n, void* value, int64_t* index, void* temp, size_t* bytes,
                   cudaStream_t stream) {
    return cub::DeviceReduce::ArgMax(temp, *bytes, static_cast<const T*>(x), static_cast<T*>(value), index, n, stream);
}

template <class T>
cudaError_t segments(const void* x, int64_t count, const int64_t* offsets, void* out, void* temp, size_t* bytes,
                     cudaStream_t stream) {
    using A = typename Accumulator<T>::type;
    return cub::DeviceSegmentedReduce::Reduce(temp, *bytes, static_cast<const T*>(x), static_cast<A*>(out), count,
                                              offsets, offsets + 1, typename Addition<T>::type{}, A(0), stream);
}

// Where row i begins. CUB has no reduction of rows of one length before 3.1.
struct RowStart {
    int64_t length;
    __host__ __device__ int64_t operator()(int64_t row) const { return row * length; }
};

template <class T>
cudaError_t rows(const void* x, int64_t count, int64_t length, void* out, void* temp, size_t* bytes,
                 cudaStream_t stream) {
    using A = typename Accumulator<T>::type;
    auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), RowStart{length});
    return cub::DeviceSegmentedReduce::Reduce(temp, *bytes, static_cast<const T*>(x), static_cast<A*>(out), count,
                                              starts, starts + 1, typename Addition<T>::type{}, A(0), stream);
}

}  // namespace

// Calls FUNCTION<T>(…) for the type that a number names.
#define WITH_TYPE(TYPE, FUNCTION, ...)                                   \
    switch (TYPE) {                                                      \
        case F32: return FUNCTION<float>(__VA_ARGS__);                   \
        case F64: return FUNCTION<double>(__VA_ARGS__);                  \
        case F16: return FUNCTION<__half>(__VA_ARGS__);                  \
        case BF16: return FUNCTION<__nv_bfloat16>(__VA_ARGS__);          \
        case I32: return FUNCTION<int32_t>(__VA_ARGS__);                 \
        default: return cudaErrorInvalidValue;                           \
    }

#define EXPORTED extern "C" __attribute__((visibility("default")))

// One value of n elements of x (and of y, for DOT).
EXPORTED int ww_cub_reduce(int operation, int type, const void* x, const void* y, int64_t n, void* out, void* temp,
                           size_t* temp_bytes, cudaStream_t stream) {
    WITH_TYPE(type, reduce, operation, x, y, n, out, temp, temp_bytes, stream)
}

// The largest element and its lowest index.
EXPORTED int ww_cub_argmax(int type, const void* x, int64_t n, void* value, int64_t* index, void* temp,
                           size_t* temp_bytes, cudaStream_t stream) {
    WITH_TYPE(type, argmax, x, n, value, index, temp, temp_bytes, stream)
}

// Sums of x[offsets[i]] … x[offsets[i + 1] - 1], for i < count.
EXPORTED int ww_cub_sum_segments(int type, const void* x, int64_t count, const int64_t* offsets, void* out, void* temp,
                                 size_t* temp_bytes, cudaStream_t stream) {
    WITH_TYPE(type, segments, x, count, offsets, out, temp, temp_bytes, stream)
}

// Sums of count rows of length elements, without gaps.
EXPORTED int ww_cub_sum_rows(int type, const void* x, int64_t count, int64_t length, void* out,
                             void* temp, size_t* temp_bytes, cudaStream_t stream) {
    WITH_TYPE(type, rows, x, count, length, out, temp, temp_bytes, stream)
}

// CUB's version, as CUB writes it (300002 is 3.0.2).
EXPORTED int ww_cub_version() { return CUB_VERSION; }
