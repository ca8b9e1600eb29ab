#pragma once

// The part of CUDA's runtime and language that Athanor uses, for GPUs that are emulated on processors
// (emulated_gpus.hpp): kernels and what launches them are compiled against it as they stand, where nothing of CUDA is
// installed. Names, values and behaviour are those of NVIDIA's documentation. C++17, which is what kernels may use.

#include <atomic>
#include <cstddef>
#include <cstdint>

#define __device__
#define __host__
#define __global__
#define __launch_bounds__(threads)
// A block is one thread of this process, and the threads of the block take turns on it (block_threads.hpp).
#define __shared__ static thread_local

struct dim3 {
  explicit dim3(unsigned in_x = 1, unsigned in_y = 1, unsigned in_z = 1) : x(in_x), y(in_y), z(in_z) {}
  unsigned x, y, z;
};

namespace athanor::emulation {

/// Which thread of its block runs at present. Relaxed, so that it orders nothing between the threads of a block.
class ThreadNumber {
 public:
  operator unsigned() const { return value_.load(std::memory_order_relaxed); }
  void set(unsigned value) { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<unsigned> value_{0};
};
struct ThreadIndex {
  ThreadNumber x;
};
struct BlockIndex {
  unsigned x = 0;
};

}  // namespace athanor::emulation

inline thread_local athanor::emulation::ThreadIndex threadIdx;
inline thread_local athanor::emulation::BlockIndex blockIdx;
inline thread_local athanor::emulation::BlockIndex blockDim;

void __syncthreads();
int __syncthreads_and(int predicate);
__extension__ using UnsignedOf128 = unsigned __int128;
inline std::uint64_t __umul64hi(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<UnsignedOf128>(a) * b >> 64U);
}

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorUnknown = 999,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrL2CacheSize = 38 };
enum : unsigned { cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaStreamNonBlocking = 1 };

struct cudaDeviceProp {
  char name[256];
};
struct cudaFuncAttributes {
  int numRegs;
};
struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaHostGetDevicePointer(void** on_device, void* memory, unsigned flags);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          std::size_t shared_bytes);
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream);
