#include "algorithms/execution/cuda/cuda_executor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/core.h>

#include "algorithms/execution/cuda/gpu_share.hpp"
#include "algorithms/execution/cuda/kernels.hpp"
#include "algorithms/execution/preparation.hpp"
#include "algorithms/proof/memory_map.hpp"
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

/// Refuses what would reach outside of its buffers, or wait for ever: a GPU would not notice.
LaneTables checked_tables(const Schedule& schedule) {
  checked_wiring(schedule);
  LaneTables tables = tabulate_lanes(schedule);
  if (const auto unequal = unmatched_connection(tables)) {
    const auto agent = [&](std::uint32_t lane) {
      return describe(schedule.agent_count(), AgentId{tables.lanes[lane].agent});
    };
    const LaneTables::Connection& ends = tables.connections[*unequal];
    throw SimulationError("matching", fmt::format("{} receives other messages than {} sends to it",
                                                  agent(ends.target_lane), agent(ends.source_lane)));
  }
  return tables;
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

/// Two words in host memory that kernels poll: go and stop.
class Signals {
 public:
  Signals() {
    check(cudaHostAlloc(reinterpret_cast<void**>(&words_), 2 * sizeof *words_,
                        cudaHostAllocMapped | cudaHostAllocPortable),
          "cudaHostAlloc");
    lower();
  }
  ~Signals() { cudaFreeHost(words_); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void lower() { set(0, 0), set(1, 0); }
  void go() { set(0, 1); }
  void stop() { set(1, 1); }
  void show(DeviceView& view) const {
    void* pointer = nullptr;
    check(cudaHostGetDevicePointer(&pointer, words_, 0), "cudaHostGetDevicePointer");
    view.go = static_cast<const std::uint32_t*>(pointer);
    view.stop = view.go + 1;
  }

 private:
  void set(std::size_t word, std::uint32_t value) {
    std::atomic_ref(words_[word]).store(value, std::memory_order_release);
  }
  std::uint32_t* words_ = nullptr;
};

/// The devices of a request, each once.
std::vector<int> each_once(std::vector<int> devices) {
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace

class CudaExecutor::State {
 public:
  State(const Schedule& schedule, const CudaRequest& request)
      : request_(request),
        tables_(checked_tables(schedule)),
        places_(chosen_devices(request)),
        devices_(each_once(places_)),
        kernel_(interpreter_kernel(request.type, request.reduction)),
        element_(static_cast<std::int64_t>(athanor::element_size(request.type))) {
    require(request.slots >= schedule.least_slots(), "{} slots where the schedule needs {}", request.slots,
            schedule.least_slots());
    require(request.threads > 0 && request.threads <= kMostThreads, "{} threads for a block", request.threads);
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
  int device(AgentId agent) const { return devices_[share_of(agent.value)]; }

  double run() {
    signals_.lower();
    for (const auto& share : shares_) { share->reset(); }
    try {
      for (const auto& share : shares_) { share->launch(kernel_, request_.threads); }
      signals_.go();
      await_end();
    } catch (...) {
      // What runs waits for messages that may never come, and freeing its memory would wait for it.
      signals_.stop();
      for (const auto& share : shares_) { share->settle(); }
      throw;
    }
    double slowest = 0;
    for (const auto& share : shares_) { slowest = std::max(slowest, share->seconds()); }
    return slowest;
  }

 private:
  /// Which of the shares an agent falls on. A device that is named twice has one share, with one kernel, so that all of
  /// its blocks are resident together.
  std::size_t share_of(std::uint32_t agent) const {
    const int device = places_[std::size_t{agent} * places_.size() / tables_.agents];
    return static_cast<std::size_t>(std::lower_bound(devices_.begin(), devices_.end(), device) - devices_.begin());
  }

  /// Of its sender and its receiver.
  std::pair<std::size_t, std::size_t> shares_of(const LaneTables::Connection& connection) const {
    return {share_of(tables_.lanes[connection.source_lane].agent),
            share_of(tables_.lanes[connection.target_lane].agent)};
  }

  void share_lanes() {
    std::vector<std::vector<std::uint32_t>> lanes(devices_.size());
    for (std::uint32_t lane = 0; lane < tables_.lanes.size(); ++lane) {
      lanes[share_of(tables_.lanes[lane].agent)].push_back(lane);
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      shares_.push_back(std::make_unique<GpuShare>(devices_[i], tables_, std::move(lanes[i])));
      shares_.back()->prepare(kernel_, request_.threads);
    }
  }

  void allocate_buffers(const Schedule& schedule) {
    for (AgentId agent{0}; agent.value < tables_.agents; ++agent.value) {
      const Memory memory = schedule.memory(agent);
      const auto allocated = [&](std::int64_t elements) {
        return memories_.emplace_back(device(agent), static_cast<std::size_t>(elements * element_)).data();
      };
      for (const Elements elements : {memory.input, memory.output, memory.scratch}) {
        sizes_.push_back(static_cast<std::size_t>(elements.count() * element_));
      }
      if (memory.in_place) {
        // One of them begins within the other, and either may begin first.
        const MemoryMap map(memory);
        std::byte* const both = allocated(map.base(Buffer::scratch));
        addresses_.push_back(both + map.base(Buffer::input) * element_);
        addresses_.push_back(both + map.base(Buffer::output) * element_);
      } else {
        addresses_.push_back(allocated(memory.input.count()));
        addresses_.push_back(allocated(memory.output.count()));
      }
      addresses_.push_back(allocated(memory.scratch.count()));
    }
  }

  void join_connections() {
    const std::int64_t per_pack = 16 / element_;
    const std::int64_t slot_elements = ceil_div(std::max<std::int64_t>(tables_.message_limit, 1), per_pack) * per_pack;
    std::vector<std::size_t> sending(devices_.size());
    std::vector<std::size_t> receiving(devices_.size());
    for (const LaneTables::Connection& connection : tables_.connections) {
      const auto [from, to] = shares_of(connection);
      ++sending[from];
      ++receiving[to];
      if (from == to) { continue; }
      enable_peer(devices_[from], devices_[to]);
      enable_peer(devices_[to], devices_[from]);
    }
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      shares_[i]->reserve(sending[i], receiving[i],
                          static_cast<std::size_t>(slot_elements * element_) * request_.slots);
    }
    std::vector<DeviceConnection> connections(tables_.connections.size());
    for (std::size_t i = 0; i < connections.size(); ++i) {
      const auto [from, to] = shares_of(tables_.connections[i]);
      shares_[from]->take_sending_end(connections[i]);
      shares_[to]->take_receiving_end(connections[i]);
      connections[i].here = from == to;
    }
    DeviceView view;
    signals_.show(view);
    view.shift = tables_.shift;
    view.message_limit = slot_elements;
    view.slots = request_.slots;
    view.divisor = request_.reduction == Reduction::average ? tables_.ranks : 1;
    for (const auto& share : shares_) { share->set_view(view, connections, addresses_); }
  }

  void await_end() {
    using Clock = std::chrono::steady_clock;
    const auto limit = Clock::now() + std::chrono::duration<double>(request_.time_limit_seconds);
    for (bool ended = false; !ended; std::this_thread::yield()) {
      ended = true;
      // All of them every time: one that has failed is what the others wait for.
      for (const auto& share : shares_) { ended = share->done() && ended; }
      if (!ended && Clock::now() > limit) {
        throw SimulationError("cuda-time-limit", fmt::format("the schedule had not ended after {} s on the GPU",
                                                             request_.time_limit_seconds));
      }
    }
  }

  CudaRequest request_;
  LaneTables tables_;
  std::vector<int> places_;   // agents are spread over
  std::vector<int> devices_;  // each once, ascending
  const void* kernel_;
  std::int64_t element_;
  Signals signals_;
  std::vector<DeviceMemory> memories_;
  std::vector<std::byte*> addresses_;              // by agent x 3 + Buffer
  std::vector<std::size_t> sizes_;                 // likewise
  std::vector<std::unique_ptr<GpuShare>> shares_;  // by place in devices_
};

CudaExecutor::CudaExecutor(const Schedule& schedule, const CudaRequest& request)
    : state_(std::make_unique<State>(schedule, request)) {}

CudaExecutor::~CudaExecutor() = default;

void CudaExecutor::write(AgentId agent, Buffer buffer, std::span<const std::byte> data) {
  require(data.size() == state_->bytes(agent, buffer), "{} bytes for a buffer of {}", data.size(),
          state_->bytes(agent, buffer));
  if (data.empty()) { return; }
  const OnDevice here(state_->device(agent));
  check(cudaMemcpy(state_->address(agent, buffer), data.data(), data.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

void CudaExecutor::read(AgentId agent, Buffer buffer, std::span<std::byte> data) const {
  require(data.size() == state_->bytes(agent, buffer), "{} bytes for a buffer of {}", data.size(),
          state_->bytes(agent, buffer));
  if (data.empty()) { return; }
  const OnDevice here(state_->device(agent));
  check(cudaMemcpy(data.data(), state_->address(agent, buffer), data.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

double CudaExecutor::run() { return state_->run(); }

}  // namespace athanor
