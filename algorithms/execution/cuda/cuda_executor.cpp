#include "algorithms/execution/cuda/cuda_executor.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "algorithms/execution/cuda/gpu_share.hpp"
#include "algorithms/execution/cuda/kernels.hpp"
#include "sim/check.hpp"

namespace athanor {

std::vector<std::string> cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) { return {}; }
  std::vector<std::string> names;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    names.emplace_back(properties.name);
  }
  return names;
}

CudaLimits cuda_limits(int device, std::uint32_t threads) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
  return {resident_blocks(device, interpreter_kernel(DataType::float32, Reduction::sum), threads), bytes};
}

namespace {

std::vector<int> chosen_devices(const CudaRequest& request) {
  if (!request.devices.empty()) { return request.devices; }
  std::vector<int> all(cuda_devices().size());
  for (std::size_t i = 0; i < all.size(); ++i) { all[i] = static_cast<int>(i); }
  if (all.empty()) { throw SimulationError("cuda", "no CUDA device is found on this machine"); }
  return all;
}

void require_few_places(const LaneTables& tables) {
  for (const LaneTables::Entry& entry : tables.entries) {
    if (entry.receives + 2 <= kMostPlaces && entry.sends + 1 <= kMostPlaces) { continue; }
    throw SimulationError("cuda", fmt::format("a primitive receives {} and sends {} messages; the kernel takes {}",
                                              entry.receives, entry.sends, kMostPlaces - 2));
  }
}

/// Lets `from` read and write the memory of `to`.
void enable_peer(int from, int to) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, from, to), "cudaDeviceCanAccessPeer");
  if (possible == 0) {
    throw SimulationError("cuda-peer", fmt::format("GPU {} has no peer access to GPU {}", from, to));
  }
  const OnDevice here(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();  // is no error here, and would be reported by the next call
  } else {
    check(status, "cudaDeviceEnablePeerAccess");
  }
}

/// A word in host memory that kernels poll.
class StopFlag {
 public:
  StopFlag() {
    check(cudaHostAlloc(reinterpret_cast<void**>(&word_), sizeof *word_, cudaHostAllocMapped), "cudaHostAlloc");
  }
  ~StopFlag() { cudaFreeHost(word_); }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  void set(std::uint32_t value) { *static_cast<volatile std::uint32_t*>(word_) = value; }
  const std::uint32_t* on_device() const {
    void* pointer = nullptr;
    check(cudaHostGetDevicePointer(&pointer, word_, 0), "cudaHostGetDevicePointer");
    return static_cast<const std::uint32_t*>(pointer);
  }

 private:
  std::uint32_t* word_ = nullptr;
};

}  // namespace

class CudaExecutor::State {
 public:
  State(const Schedule& schedule, const CudaRequest& request)
      : request_(request),
        tables_(tabulate_lanes(schedule)),
        devices_(chosen_devices(request)),
        kernel_(interpreter_kernel(request.type, request.reduction)),
        element_(static_cast<std::int64_t>(athanor::element_size(request.type))) {
    require(request.slots >= schedule.least_slots(), "{} slots where the schedule needs {}", request.slots,
            schedule.least_slots());
    require_few_places(tables_);
    share_lanes();
    allocate_buffers(schedule);
    join_connections();
  }

  std::byte* address(AgentId agent, Buffer buffer) const {
    return addresses_[agent.value * 3 + static_cast<std::size_t>(buffer)];
  }
  std::size_t bytes(AgentId agent, Buffer buffer) const {
    return sizes_[agent.value * 3 + static_cast<std::size_t>(buffer)];
  }

  double run() {
    stop_.set(0);
    for (const auto& share : shares_) { share->reset(); }
    for (const auto& share : shares_) {
      if (!share->idle()) { share->launch(kernel_, request_.threads); }
    }
    await_end();
    double slowest = 0;
    for (const auto& share : shares_) {
      if (!share->idle()) { slowest = std::max(slowest, share->seconds()); }
    }
    return slowest;
  }

 private:
  std::size_t place_of(std::uint32_t agent) const { return std::size_t{agent} * devices_.size() / tables_.agents; }

  void share_lanes() {
    std::vector<std::vector<std::uint32_t>> lanes(devices_.size());
    for (std::uint32_t lane = 0; lane < tables_.lanes.size(); ++lane) {
      lanes[place_of(tables_.lanes[lane].agent)].push_back(lane);
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      shares_.push_back(std::make_unique<GpuShare>(devices_[i], tables_, std::move(lanes[i])));
      shares_.back()->require_residency(kernel_, request_.threads);
    }
  }

  void allocate_buffers(const Schedule& schedule) {
    for (AgentId agent{0}; agent.value < tables_.agents; ++agent.value) {
      const Memory memory = schedule.memory(agent);
      const int device = devices_[place_of(agent.value)];
      for (const Elements elements : {memory.input, memory.output, memory.scratch}) {
        const bool aliased = memory.in_place.has_value() && memories_.size() % 3 == 0;
        sizes_.push_back(static_cast<std::size_t>(elements.count() * element_));
        memories_.emplace_back(device, aliased ? 0 : sizes_.back());
      }
      const std::size_t first = agent.value * 3U;
      for (std::size_t i = first; i < first + 3; ++i) { addresses_.push_back(memories_[i].data()); }
      if (memory.in_place) { addresses_[first] = addresses_[first + 1] + *memory.in_place * element_; }
    }
  }

  void join_connections() {
    const std::int64_t per_pack = 16 / element_;
    const std::int64_t slot_elements = ceil_div(std::max<std::int64_t>(tables_.message_limit, 1), per_pack) * per_pack;
    std::vector<std::size_t> sending(devices_.size());
    std::vector<std::size_t> receiving(devices_.size());
    for (const LaneTables::Connection& connection : tables_.connections) {
      const std::size_t from = place_of(tables_.lanes[connection.source_lane].agent);
      const std::size_t to = place_of(tables_.lanes[connection.target_lane].agent);
      ++sending[from];
      ++receiving[to];
      if (devices_[from] == devices_[to]) { continue; }
      enable_peer(devices_[from], devices_[to]);
      enable_peer(devices_[to], devices_[from]);
    }
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      shares_[i]->reserve(sending[i], receiving[i],
                          static_cast<std::size_t>(slot_elements * element_) * request_.slots);
    }
    std::vector<DeviceConnection> connections(tables_.connections.size());
    for (std::size_t i = 0; i < connections.size(); ++i) {
      const LaneTables::Connection& connection = tables_.connections[i];
      shares_[place_of(tables_.lanes[connection.source_lane].agent)]->take_sending_end(connections[i]);
      shares_[place_of(tables_.lanes[connection.target_lane].agent)]->take_receiving_end(connections[i]);
    }
    DeviceView view;
    view.stop = stop_.on_device();
    view.shift = tables_.shift;
    view.message_limit = slot_elements;
    view.slots = request_.slots;
    view.ranks = tables_.ranks;
    for (const auto& share : shares_) { share->set_view(view, connections, addresses_); }
  }

  void await_end() {
    using Clock = std::chrono::steady_clock;
    const auto limit = Clock::now() + std::chrono::duration<double>(request_.time_limit_seconds);
    bool stopped = false;
    const auto ended = [](const auto& share) { return share->idle() || share->done(); };
    while (!std::all_of(shares_.begin(), shares_.end(), ended)) {
      if (!stopped && Clock::now() > limit) {
        stopped = true;
        stop_.set(1);
      }
      std::this_thread::yield();
    }
    if (stopped) {
      throw SimulationError("cuda-time-limit", fmt::format("the schedule had not ended after {} s on the GPU",
                                                           request_.time_limit_seconds));
    }
  }

  CudaRequest request_;
  LaneTables tables_;
  std::vector<int> devices_;
  const void* kernel_;
  std::int64_t element_;
  StopFlag stop_;
  std::vector<std::unique_ptr<GpuShare>> shares_;  // by place in devices_
  std::vector<DeviceMemory> memories_;             // by agent x 3 + Buffer
  std::vector<std::byte*> addresses_;
  std::vector<std::size_t> sizes_;
};

CudaExecutor::CudaExecutor(const Schedule& schedule, const CudaRequest& request)
    : state_(std::make_unique<State>(schedule, request)) {}

CudaExecutor::~CudaExecutor() = default;

void CudaExecutor::write(AgentId agent, Buffer buffer, std::span<const std::byte> data) {
  require(data.size() == state_->bytes(agent, buffer), "{} bytes for a buffer of {}", data.size(),
          state_->bytes(agent, buffer));
  if (data.empty()) { return; }
  check(cudaMemcpy(state_->address(agent, buffer), data.data(), data.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

void CudaExecutor::read(AgentId agent, Buffer buffer, std::span<std::byte> data) const {
  require(data.size() == state_->bytes(agent, buffer), "{} bytes for a buffer of {}", data.size(),
          state_->bytes(agent, buffer));
  if (data.empty()) { return; }
  check(cudaMemcpy(data.data(), state_->address(agent, buffer), data.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

double CudaExecutor::run() { return state_->run(); }

}  // namespace athanor
