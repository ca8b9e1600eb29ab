#include "algorithms/execution/cuda/gpu_share.hpp"

#include <fmt/core.h>

#include "algorithms/execution/cuda/kernels.hpp"

namespace athanor {

namespace {

template <class T>
DeviceMemory on_device(int device, const std::vector<T>& values) {
  return DeviceMemory::holding(device, std::span<const T>(values));
}

}  // namespace

GpuShare::GpuShare(int device, const LaneTables& tables, std::vector<std::uint32_t> lanes)
    : device_(device),
      lanes_(std::move(lanes)),
      entries_(on_device(device, tables.entries)),
      lane_table_(on_device(device, tables.lanes)),
      in_connections_(on_device(device, tables.in_connections)),
      lanes_here_(on_device(device, lanes_)),
      ended_(device, tables.lanes.size() * sizeof(std::uint64_t)),
      stream_(device),
      begin_(device),
      end_(device) {}

void GpuShare::reserve(std::size_t sending_ends, std::size_t receiving_ends, std::size_t slot_bytes) {
  slot_bytes_ = slot_bytes;
  sending_ = DeviceMemory(device_, sending_ends * 2 * kCounterBytes);
  receiving_ = DeviceMemory(device_, receiving_ends * 2 * kCounterBytes);
  slots_ = DeviceMemory(device_, receiving_ends * slot_bytes);
}

void GpuShare::take_sending_end(DeviceConnection& connection) {
  std::byte* counters = sending_.data() + sending_taken_++ * 2 * kCounterBytes;
  connection.freed = reinterpret_cast<std::uint64_t*>(counters);
  connection.sent = reinterpret_cast<std::uint64_t*>(counters + kCounterBytes);
}

void GpuShare::take_receiving_end(DeviceConnection& connection) {
  std::byte* counters = receiving_.data() + receiving_taken_ * 2 * kCounterBytes;
  connection.filled = reinterpret_cast<std::uint64_t*>(counters);
  connection.used = reinterpret_cast<std::uint64_t*>(counters + kCounterBytes);
  connection.slots = slots_.data() + receiving_taken_++ * slot_bytes_;
}

std::uint32_t resident_blocks(int device, const void* kernel, std::uint32_t threads) {
  const OnDevice here(device);
  int blocks_each = 0;
  int processors = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, kernel, static_cast<int>(threads), 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(blocks_each) * static_cast<std::uint32_t>(processors);
}

void GpuShare::prepare(const void* kernel, std::uint32_t threads) const {
  // CUDA loads a kernel when it is first used, and may wait for what runs on the GPU to end: here for the gate, which
  // waits for the host.
  const OnDevice here(device_);
  for (const void* loaded : {gate_kernel(), kernel}) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, loaded), "cudaFuncGetAttributes");
  }
  const std::size_t most = resident_blocks(device_, kernel, threads);
  if (lanes_.size() > most) {
    throw SimulationError("cuda-residency",
                          fmt::format("GPU {} holds {} blocks of {} threads at once, and the schedule has {} lanes on "
                                      "it: use fewer channels or fewer threads",
                                      device_, most, threads, lanes_.size()));
  }
}

void GpuShare::set_view(DeviceView common, std::span<const DeviceConnection> connections,
                        std::span<std::byte* const> buffers) {
  connections_ = DeviceMemory::holding(device_, connections);
  buffers_ = DeviceMemory::holding(device_, buffers);
  view_ = common;
  view_.entries = entries_.as<const LaneTables::Entry>();
  view_.lanes = lane_table_.as<const LaneTables::Lane>();
  view_.in_connections = in_connections_.as<const std::uint32_t>();
  view_.lanes_here = lanes_here_.as<const std::uint32_t>();
  view_.ended = ended_.as<std::uint64_t>();
  view_.connections = connections_.as<const DeviceConnection>();
  view_.buffers = buffers_.as<std::byte* const>();
}

void GpuShare::reset() {
  sending_.clear();
  receiving_.clear();
  ended_.clear();
  const OnDevice here(device_);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void GpuShare::launch(const void* kernel, std::uint32_t threads) {
  if (lanes_.empty()) { return; }
  const OnDevice here(device_);
  void* arguments[] = {&view_};
  const auto launched = [&](const void* function, std::size_t blocks, std::uint32_t each) {
    check(cudaLaunchCooperativeKernel(function, dim3(static_cast<unsigned>(blocks)), dim3(each), arguments, 0,
                                      stream_.get()),
          "cudaLaunchCooperativeKernel");
  };
  launched(gate_kernel(), 1, 1);
  check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
  launched(kernel, lanes_.size(), threads);
  check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
}

bool GpuShare::done() const {
  if (lanes_.empty()) { return true; }
  const cudaError_t status = cudaEventQuery(end_.get());
  if (status == cudaErrorNotReady) { return false; }
  check(status, "the interpreter kernel");
  return true;
}

void GpuShare::settle() const { cudaStreamSynchronize(stream_.get()); }

double GpuShare::seconds() const {
  if (lanes_.empty()) { return 0; }
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace athanor
