#include "tests/algorithms/execution/cuda/emulated_gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <fmt/core.h>

#include "algorithms/execution/half_precision.hpp"
#include "tests/algorithms/execution/cuda/block_threads.hpp"
#include "tests/algorithms/execution/cuda/emulated_state.hpp"

namespace athanor::emulation {

namespace {

/// The block that a thread of the system carries out. What its threads share is relaxed, so that it orders nothing
/// between them.
struct PresentBlock {
  PresentBlock(EmulatedGpus::State& of_state, EmulatedDevice& of_device, const DeviceView& of_view, unsigned count)
      : state(of_state), device(of_device), view(of_view), threads(count, [this] { rest(); }), looks(count) {}

  EmulatedGpus::State& state;
  EmulatedDevice& device;
  const DeviceView& view;
  BlockThreads threads;
  std::optional<GpuFault> fault = {};  ///< of this block
  std::atomic<std::uint64_t> barriers{0};
  std::atomic<unsigned> polls{0};  ///< since the last barrier
  /// What a thread polled last, and what it saw. Who sees something else goes on, and is not to wait for still more.
  struct Look {
    const std::uint64_t* word = nullptr;
    std::uint64_t value = 0;
    bool operator==(const Look&) const = default;
  };
  std::vector<Look> looks;
  // What was polled last in vain; all that its threads poll must come before they go on.
  std::atomic<const std::uint64_t*> polled{nullptr};
  std::atomic<std::uint64_t> value{0};

  void go_on() const {
    if (device.broken.load(std::memory_order_relaxed)) { throw BlockThreads::Ended{}; }
  }
  /// What is there at the first look needs no pause.
  void poll() {
    go_on();
    polls.store(polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (polls.load(std::memory_order_relaxed) > blockDim.x) { threads.pause(); }
  }
  bool stopped() const { return __atomic_load_n(view.stop, __ATOMIC_RELAXED) != 0; }
  void rest() {
    const std::uint64_t* const word = polled.load(std::memory_order_relaxed);
    if (polls.load(std::memory_order_relaxed) < 4 * blockDim.x || word == nullptr || stopped()) {
      return std::this_thread::yield();
    }
    state.doorbells.wait(
        word, [&] { return __atomic_load_n(word, __ATOMIC_RELAXED) != value || device.broken || stopped(); });
  }
  /// Has the fault come to pass?
  bool struck(GpuFault::Kind kind) const {
    return fault && fault->kind == kind && barriers.load(std::memory_order_relaxed) > fault->after;
  }
};

thread_local PresentBlock* present = nullptr;

bool meet(bool holds) {
  present->go_on();
  const bool all = present->threads.meet(holds);
  present->polls.store(0, std::memory_order_relaxed);
  if (threadIdx.x != 0) { return all; }
  present->barriers.store(present->barriers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (present->struck(GpuFault::Kind::trap)) {
    present->state.struck = true;
    present->device.broken = true;
    throw BlockThreads::Ended{};
  }
  if (present->struck(GpuFault::Kind::deaf)) { present->state.struck = true; }
  return all;
}

}  // namespace

std::uint64_t seen(const std::uint64_t* word, std::uint64_t value) {
  const PresentBlock::Look look{word, value};
  if (std::exchange(present->looks[threadIdx.x], look) == look) {
    present->polled.store(word, std::memory_order_relaxed);
    present->value.store(value, std::memory_order_relaxed);
    present->poll();
  } else {
    present->go_on();
  }
  return present->struck(GpuFault::Kind::deaf) ? 0 : value;
}

std::uint32_t seen(const std::uint32_t*, std::uint32_t value) {
  present->poll();
  return value;
}

void written(const void* word) { present->state.doorbells.ring(word); }

void written_here(const void* word) {
  EmulatedGpus::State& state = present->state;
  const std::scoped_lock lock(state.mutex);
  const int owner = state.memory.device_of(word);
  if (&state.devices[static_cast<std::size_t>(owner)] == &present->device) { return; }
  state.note(fmt::format("a word in memory of GPU {} is written with the scope of another one", owner));
}

void run_kernel(EmulatedGpus::State& state, int device, void (*kernel)(DeviceView), const DeviceView& view,
                unsigned blocks, unsigned threads) {
  state.workers.run(blocks, [&](unsigned number) {
    PresentBlock block(state, state.devices[static_cast<std::size_t>(device)], view, threads);
    if (state.armed && state.fault.device == device && state.fault.block == number) { block.fault = state.fault; }
    present = &block;
    blockIdx.x = number;
    blockDim.x = threads;
    try {
      block.threads.run([&] { kernel(view); });
    } catch (const std::logic_error& error) {
      const std::scoped_lock lock(state.mutex);
      state.note(error.what());
      block.device.broken = true;
    }
  });
}

EmulatedGpus::EmulatedGpus() : state_(std::make_unique<State>()) {
  GpuSetup setup;
  if (const char* devices = std::getenv("ATHANOR_EMULATED_GPUS")) { setup.devices = std::atoi(devices); }
  set_up(setup);
}
EmulatedGpus::~EmulatedGpus() = default;

EmulatedGpus& EmulatedGpus::machine() {
  static EmulatedGpus only;
  return only;
}

void EmulatedGpus::set_up(const GpuSetup& setup) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->memory.left() + state_->streams.size() + state_->events.size() > 0) {
    throw std::logic_error("the GPUs before were not left empty");
  }
  state_->setup = setup;
  state_->devices.clear();
  for (int device = 0; device < setup.devices; ++device) { state_->devices.emplace_back(); }
  state_->peers.clear();
  state_->misuse.clear();
  state_->calls = 0;
  state_->armed = state_->struck = false;
}

void EmulatedGpus::fail(const GpuFault& fault) {
  const std::scoped_lock lock(state_->mutex);
  state_->fault = fault;
  if (fault.kind == GpuFault::Kind::call) { state_->fault.after += state_->calls; }
  state_->armed = true;
  state_->struck = false;
}

bool EmulatedGpus::failed() const { return state_->struck; }

std::uint64_t EmulatedGpus::calls() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->calls;
}

std::size_t EmulatedGpus::left() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->memory.left() + state_->streams.size() + state_->events.size();
}

std::uint64_t EmulatedGpus::early_events() const {
  const std::scoped_lock lock(state_->mutex);
  return static_cast<std::uint64_t>(std::count_if(state_->events.begin(), state_->events.end(), [&](const auto* event) {
    return !event->pending && event->turn < state_->last_launch;
  }));
}

std::string EmulatedGpus::misuse() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->misuse.empty() ? state_->memory.damage() : state_->misuse;
}

bool EmulatedGpus::State::idle(int device) const {
  for (const CUstream_st* stream : streams) {
    if (stream->device == device && (stream->busy || !stream->work.empty())) { return false; }
  }
  return true;
}

}  // namespace athanor::emulation

void __syncthreads() { athanor::emulation::meet(true); }
int __syncthreads_and(int predicate) { return athanor::emulation::meet(predicate != 0) ? 1 : 0; }

float __half2float(__half value) { return athanor::widen(athanor::Float16{value.bits}); }
__half __float2half_rn(float value) { return {athanor::narrow_to_float16(value).bits}; }
float __bfloat162float(__nv_bfloat16 value) { return athanor::widen(athanor::BFloat16{value.bits}); }
__nv_bfloat16 __float2bfloat16_rn(float value) { return {athanor::narrow_to_bfloat16(value).bits}; }
