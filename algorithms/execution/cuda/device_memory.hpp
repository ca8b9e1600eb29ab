#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "sim/error.hpp"

namespace athanor {

/// Throws SimulationError("cuda") unless the call has succeeded.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) { throw SimulationError("cuda", std::string(what) + ": " + cudaGetErrorString(status)); }
}

/// Makes a device the present one, and the former again at the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// A stream of one GPU that waits for no other stream.
class DeviceStream {
 public:
  explicit DeviceStream(int device) {
    const OnDevice here(device);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~DeviceStream() {
    if (stream_ != nullptr) { cudaStreamDestroy(stream_); }
  }
  DeviceStream(DeviceStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  DeviceStream& operator=(DeviceStream&&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class DeviceEvent {
 public:
  explicit DeviceEvent(int device) {
    const OnDevice here(device);
    check(cudaEventCreate(&event_), "cudaEventCreate");
  }
  ~DeviceEvent() {
    if (event_ != nullptr) { cudaEventDestroy(event_); }
  }
  DeviceEvent(DeviceEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  DeviceEvent& operator=(DeviceEvent&&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Memory of one GPU, zeroed at first. Plain device memory, never managed.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(int device, std::size_t bytes) : DeviceMemory(allocated(device, bytes)) { clear(); }
  ~DeviceMemory() {
    if (data_ != nullptr) { cudaFree(data_); }
  }
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

  /// Has ended on return: the device sets memory without the host, and in another order than other devices and streams.
  void clear() {
    if (bytes_ == 0) { return; }
    const OnDevice here(device_);
    check(cudaMemset(data_, 0, bytes_), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");
  }

  /// With these values in it.
  template <class T>
  static DeviceMemory holding(int device, std::span<const T> values) {
    DeviceMemory memory = allocated(device, values.size_bytes());
    if (values.empty()) { return memory; }
    const OnDevice here(device);
    check(cudaMemcpy(memory.data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    return memory;
  }

 private:
  static DeviceMemory allocated(int device, std::size_t bytes) {
    DeviceMemory memory;
    memory.device_ = device;
    memory.bytes_ = bytes;
    if (bytes == 0) { return memory; }
    const OnDevice here(device);
    check(cudaMalloc(&memory.data_, bytes), "cudaMalloc");
    return memory;
  }
  void swap(DeviceMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  int device_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace athanor
