#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "algorithms/execution/cuda/device_view.hpp"
#include "tests/algorithms/execution/cuda/block_workers.hpp"
#include "tests/algorithms/execution/cuda/doorbells.hpp"
#include "tests/algorithms/execution/cuda/emulated_gpus.hpp"
#include "tests/algorithms/execution/cuda/guarded_memory.hpp"

/// Work in its order, by a thread of its own.
struct CUstream_st {
  int device = 0;
  std::deque<std::function<void()>> work;
  bool busy = false;
  bool closing = false;
  std::thread worker;
};

struct CUevent_st {
  bool pending = false;
  int device = 0;
  std::chrono::steady_clock::time_point time;
  std::uint64_t turn = 0;  ///< among events and launches
};

namespace athanor::emulation {

struct EmulatedDevice {
  std::atomic<bool> broken{false};  ///< a kernel has failed: everything on this device fails from now on
  int resident = 0;                 ///< blocks of kernels
  std::set<const void*> loaded;     ///< kernels
  /// What was asked for on its null stream and has not happened yet.
  std::vector<std::function<void()>> pending;
  std::uint64_t launched = 0;

  void catch_up() {
    for (const auto& each : pending) { each(); }
    pending.clear();
  }
};

/// All of it is guarded by `mutex`, but what is atomic.
struct EmulatedGpus::State {
  /// After which a wait of the runtime for a kernel is taken to be for ever.
  static constexpr std::chrono::seconds kPatience{20};

  std::mutex mutex;
  std::condition_variable changed;
  GpuSetup setup;
  std::deque<EmulatedDevice> devices;
  GuardedMemory memory;
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::set<std::pair<int, int>> peers;
  std::string misuse;
  std::uint64_t calls = 0;
  std::uint64_t turns = 0;  ///< of events and launches
  std::uint64_t last_launch = 0;
  GpuFault fault;
  BlockWorkers workers;
  Doorbells doorbells;
  std::atomic<bool> armed{false};
  std::atomic<bool> struck{false};

  void note(const std::string& text) {
    if (misuse.empty()) { misuse = text; }
  }
  bool idle(int device) const;
  /// Until it holds. Where it takes too long it notes what was waited for, and breaks all devices, so that it ends.
  template <class Holds>
  void wait(std::unique_lock<std::mutex>& lock, const char* what, Holds holds) {
    if (changed.wait_for(lock, kPatience, holds)) { return; }
    note(what);
    for (EmulatedDevice& device : devices) { device.broken = true; }
    changed.notify_all();
    changed.wait(lock, holds);
  }
  /// Does the next call, or launch, fail?
  bool strikes(GpuFault::Kind kind, std::uint64_t count) {
    if (!armed || fault.kind != kind || count != fault.after) { return false; }
    struck = true;
    return true;
  }
};

/// Runs the blocks of a kernel on a device and waits for them.
void run_kernel(EmulatedGpus::State& state, int device, void (*kernel)(DeviceView), const DeviceView& view,
                unsigned blocks, unsigned threads);

}  // namespace athanor::emulation
