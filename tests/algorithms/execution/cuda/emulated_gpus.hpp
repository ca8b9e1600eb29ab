#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <cuda_runtime.h>

namespace athanor::emulation {

/// The GPUs of the emulated machine.
struct GpuSetup {
  int devices = 1;
  int processors = 64;         ///< of each
  int blocks_each = 16;        ///< resident on a processor
  bool peers = true;           ///< can they reach each other's memory?
  int cache = 1 << 20;         ///< bytes
  bool slow_launches = false;  ///< does a launch take long enough for whatever can begin meanwhile?
};

/// What goes wrong.
struct GpuFault {
  enum class Kind {
    call,    ///< the `after`-th call of the runtime from now on does nothing and returns an error
    launch,  ///< the `after`-th kernel on the device is not launched
    trap,    ///< a block of the device touches what it may not, after passing so many barriers, which ends all its
             ///< kernels
    deaf,    ///< from so many barriers on, a block of the device sees nothing that others write to it
  };
  Kind kind = Kind::call;
  std::uint64_t after = 0;
  int device = 0;
  unsigned block = 0;
};

/// GPUs on processors: a thread of the system for each block of a kernel, its threads by BlockThreads. As unkind as
/// CUDA may be: memory is not initialised, what is set or copied to a device without waiting for it happens as late as
/// it may, in no order with other streams; a kernel that is used for the first time is loaded when nothing runs on its
/// device any more. What a program might do to others is found: writes outside of what was allocated (by guard zones,
/// with the address sanitizer reads too), memory that is left, and kernels that never end where something waits for
/// them.
///
/// The runtime of CUDA is one for a whole process, and so is this. A program that does not set it up has one GPU, or as
/// many as ATHANOR_EMULATED_GPUS in its environment says.
class EmulatedGpus {
 public:
  static EmulatedGpus& machine();

  /// A new machine without faults. Requires that nothing of the former one is left.
  void set_up(const GpuSetup& setup);
  void fail(const GpuFault& fault);
  /// Did the fault come to pass?
  bool failed() const;

  /// Calls of the runtime since set_up().
  std::uint64_t calls() const;
  /// Pieces of memory, streams and events that are not freed.
  std::size_t left() const;
  /// Events that have come to pass before the last launch of all: times that began while others got their kernels.
  std::uint64_t early_events() const;
  /// What was found to be wrong since set_up(), "" where nothing was.
  std::string misuse() const;

  struct State;
  State& state() { return *state_; }

 private:
  EmulatedGpus();
  ~EmulatedGpus();
  std::unique_ptr<State> state_;
};

}  // namespace athanor::emulation
