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

/// Memory of one GPU, zeroed at first. Plain device memory, never managed.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(int device, std::size_t bytes) : device_(device), bytes_(bytes) {
    if (bytes == 0) { return; }
    const OnDevice here(device);
    check(cudaMalloc(&data_, bytes), "cudaMalloc");
    clear();
  }
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

  void clear() {
    if (bytes_ == 0) { return; }
    const OnDevice here(device_);
    check(cudaMemset(data_, 0, bytes_), "cudaMemset");
  }
  void write(const void* from, std::size_t bytes) {
    if (bytes > 0) { check(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device"); }
  }
  void read(void* to, std::size_t bytes) const {
    if (bytes > 0) { check(cudaMemcpy(to, data_, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy from the device"); }
  }

  template <class T>
  static DeviceMemory holding(int device, std::span<const T> values) {
    DeviceMemory memory(device, values.size_bytes());
    memory.write(values.data(), values.size_bytes());
    return memory;
  }

 private:
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
