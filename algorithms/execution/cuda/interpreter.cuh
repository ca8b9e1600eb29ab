#pragma once

#include <cuda/atomic>

#include "algorithms/execution/cuda/arithmetic.cuh"
#include "algorithms/execution/cuda/device_view.hpp"

namespace athanor {

/// Elements of one operand, message or store of the present primitive.
template <class T>
struct Strip {
  T* base;
  std::int64_t run;  ///< 0: contiguous
  std::int64_t stride;
  std::uint64_t inverse;  ///< of the run in Packs, where it is made of them: see StripOfPacks

  __device__ T& operator[](std::int64_t k) const { return base[run == 0 ? k : k / run * stride + k % run]; }
};

/// One primitive with all addresses resolved, shared by the threads of a block.
template <class T>
struct Step {
  LaneTables::Entry entry;
  Strip<T> in[kMostPlaces];
  Strip<T> out[kMostPlaces];
};

/// What every thread knows of the step.
struct Places {
  std::uint32_t inputs;
  std::uint32_t outputs;
  bool packed;  ///< every place is made of whole Packs
};

/// 16 bytes of elements: what a thread loads and stores at once.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T values[kCount];
};

/// The same in Packs, of which there are fewer than 2^32.
template <class T>
struct StripOfPacks {
  Pack<T>* base;
  std::uint32_t run;  ///< 0: contiguous
  std::uint32_t stride;
  /// 2^64 / run, rounded up, whose product with any number of 32 bits has the quotient in its upper half; 0 for a run of
  /// one. A division takes a GPU several times as long.
  std::uint64_t inverse;

  __device__ explicit StripOfPacks(const Strip<T>& strip)
      : base(reinterpret_cast<Pack<T>*>(strip.base)),
        run(static_cast<std::uint32_t>(strip.run / Pack<T>::kCount)),
        stride(static_cast<std::uint32_t>(strip.stride / Pack<T>::kCount)),
        inverse(strip.inverse) {}
  __device__ static std::uint64_t inverse_of(std::int64_t run) {
    return run <= 1 ? 0 : ~std::uint64_t{0} / static_cast<std::uint64_t>(run) + 1;
  }
  __device__ Pack<T>& operator[](std::uint32_t k) const {
    if (run == 0) { return base[k]; }
    const auto row = inverse == 0 ? k : static_cast<std::uint32_t>(__umul64hi(k, inverse));
    return base[std::uint64_t{row} * stride + (k - row * run)];
  }
};

// References to what is not const, though nothing is written through some of them: not every release of libcu++ has
// atomic_ref<const T>.
template <class Word>
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_system>;
template <class Word>
using SharedHere = cuda::atomic_ref<Word, cuda::thread_scope_device>;

__device__ inline std::uint64_t load(const std::uint64_t* counter) {
  return Shared<std::uint64_t>(*const_cast<std::uint64_t*>(counter)).load(cuda::memory_order_acquire);
}
/// Publishes what the block has written before it last met, as well, since barriers and releases are cumulative. `here`:
/// who waits for it is on the same GPU, which costs a fraction of what the whole system does.
__device__ inline void publish(std::uint64_t* counter, std::uint64_t value, bool here) {
  if (here) {
    SharedHere<std::uint64_t>(*counter).store(value, cuda::memory_order_release);
  } else {
    Shared<std::uint64_t>(*counter).store(value, cuda::memory_order_release);
  }
}
/// A signal of the host.
__device__ inline bool raised(const std::uint32_t* signal) {
  return Shared<std::uint32_t>(*const_cast<std::uint32_t*>(signal)).load(cuda::memory_order_relaxed) != 0;
}

/// Polls until the counter has reached `least`; false when the run has been stopped meanwhile.
__device__ inline bool await(const DeviceView& view, const std::uint64_t* counter, std::uint64_t least) {
  for (std::uint32_t polls = 0; load(counter) < least; ++polls) {
    if (polls % 1024 == 1023 && raised(view.stop)) { return false; }
  }
  return true;
}

template <class T>
__device__ Strip<T> place(const DeviceView& view, const LaneTables::CellRange& range, std::uint32_t agent,
                          std::int64_t moved_loops) {
  T* base = reinterpret_cast<T*>(view.buffers[agent * 3 + range.buffer]);
  return {base + range.first + moved_loops * view.shift[range.buffer], range.run, range.stride, 0};
}

template <class T>
__device__ Strip<T> slot(const DeviceView& view, const DeviceConnection& connection, std::uint64_t message) {
  T* base = reinterpret_cast<T*>(connection.slots);
  return {base + static_cast<std::int64_t>(message % view.slots) * view.message_limit, 0, 0, 0};
}

/// Each condition of the start is polled by a thread of its own.
__device__ inline bool await_start(const DeviceView& view, const LaneTables::Entry& entry, std::int64_t wait_ended) {
  bool holds = true;
  for (std::uint32_t i = threadIdx.x; i < entry.receives + entry.sends + 1; i += blockDim.x) {
    if (i < entry.receives) {
      const DeviceConnection& connection = view.connections[view.in_connections[entry.first_receive + i]];
      holds = holds && await(view, connection.filled, *connection.used + 1);
    } else if (i < entry.receives + entry.sends) {
      const DeviceConnection& connection = view.connections[entry.first_send + i - entry.receives];
      const std::uint64_t sent = *connection.sent;
      if (sent >= view.slots) { holds = holds && await(view, connection.freed, sent + 1 - view.slots); }
    } else if (entry.wait_lane != LaneTables::kNone && wait_ended > 0) {
      holds = holds && await(view, &view.ended[entry.wait_lane], static_cast<std::uint64_t>(wait_ended));
    }
  }
  return __syncthreads_and(holds) != 0;
}

/// Input k of the primitive: its operands, then what it receives.
template <class T>
__device__ Strip<T> input_place(const DeviceView& view, const LaneTables::Lane& lane, std::int64_t moved_loops,
                                const LaneTables::Entry& entry, std::uint32_t k) {
  for (const LaneTables::CellRange& operand : entry.operands) {
    if (operand.buffer == LaneTables::kNone) { continue; }
    if (k == 0) { return place<T>(view, operand, lane.agent, moved_loops); }
    --k;
  }
  const DeviceConnection& connection = view.connections[view.in_connections[entry.first_receive + k]];
  return slot<T>(view, connection, *connection.used);
}

/// Output k of the primitive: its store, then what it sends.
template <class T>
__device__ Strip<T> output_place(const DeviceView& view, const LaneTables::Lane& lane, std::int64_t moved_loops,
                                 const LaneTables::Entry& entry, std::uint32_t k) {
  if (entry.store.buffer != LaneTables::kNone) {
    if (k == 0) { return place<T>(view, entry.store, lane.agent, moved_loops); }
    --k;
  }
  const DeviceConnection& connection = view.connections[entry.first_send + k];
  return slot<T>(view, connection, *connection.sent);
}

/// Whether its runs begin and end with Packs, which indices of 32 bits reach.
template <class T>
__device__ bool in_packs(const Strip<T>& strip, std::int64_t count) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) * Pack<T>::kCount;
  if (count >= kMost || strip.stride < 0 || strip.stride >= kMost) { return false; }
  return reinterpret_cast<std::uintptr_t>(strip.base) % 16 == 0 && strip.run % Pack<T>::kCount == 0 &&
         strip.stride % Pack<T>::kCount == 0;
}

/// Where the primitive reads and writes. Each place is looked up by a thread of its own: its address takes several
/// loads, each of which depends on the one before.
template <class T>
__device__ Places resolve(const DeviceView& view, const LaneTables::Lane& lane, std::int64_t moved_loops,
                          Step<T>& step) {
  const LaneTables::Entry& entry = step.entry;
  const auto present = [](const LaneTables::CellRange& cells) { return cells.buffer == LaneTables::kNone ? 0U : 1U; };
  const std::uint32_t inputs = present(entry.operands[0]) + present(entry.operands[1]) + entry.receives;
  const std::uint32_t outputs = present(entry.store) + entry.sends;
  bool packed = true;
  for (std::uint32_t k = threadIdx.x; k < inputs + outputs; k += blockDim.x) {
    Strip<T>& strip = k < inputs ? step.in[k] : step.out[k - inputs];
    strip = k < inputs ? input_place<T>(view, lane, moved_loops, entry, k)
                       : output_place<T>(view, lane, moved_loops, entry, k - inputs);
    strip.inverse = StripOfPacks<T>::inverse_of(strip.run / Pack<T>::kCount);
    packed = packed && in_packs(strip, entry.count);
  }
  return {inputs, outputs, __syncthreads_and(packed) != 0};
}

/// Reduces kBatch packs of a thread at once, those `k`, `k + blockDim.x` and so on: their loads are under way together.
template <class T, class Operation, int kBatch>
__device__ void reduce_batch(const Step<T>& step, const Places& places, std::uint32_t k, std::uint32_t divisor) {
  const std::uint32_t apart = blockDim.x;
  Pack<T> values[kBatch];
  const StripOfPacks<T> first(step.in[0]);
#pragma unroll
  for (int b = 0; b < kBatch; ++b) { values[b] = first[k + b * apart]; }
  for (std::uint32_t i = 1; i < places.inputs; ++i) {
    const StripOfPacks<T> input(step.in[i]);
    Pack<T> others[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) { others[b] = input[k + b * apart]; }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
#pragma unroll
      for (int e = 0; e < Pack<T>::kCount; ++e) {
        values[b].values[e] = combine<Operation>(values[b].values[e], others[b].values[e]);
      }
    }
  }
  if (divisor > 1) {
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
#pragma unroll
      for (int e = 0; e < Pack<T>::kCount; ++e) { values[b].values[e] = divided(values[b].values[e], divisor); }
    }
  }
  for (std::uint32_t o = 0; o < places.outputs; ++o) {
    const StripOfPacks<T> output(step.out[o]);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) { output[k + b * apart] = values[b]; }
  }
}

template <class T, class Operation>
__device__ void reduce_packs(const Step<T>& step, const Places& places, std::uint32_t packs, std::uint32_t divisor) {
  constexpr int kBatch = sizeof(T) == 1 ? 2 : 4;  // as many as registers hold: sums of bytes take four for a pack
  std::uint32_t k = threadIdx.x;
  for (; k + (kBatch - 1) * blockDim.x < packs; k += kBatch * blockDim.x) {
    reduce_batch<T, Operation, kBatch>(step, places, k, divisor);
  }
  for (; k < packs; k += blockDim.x) { reduce_batch<T, Operation, 1>(step, places, k, divisor); }
}

template <class T, class Operation>
__device__ void reduce(const Step<T>& step, const Places& places, std::uint32_t divisor) {
  const std::int64_t count = step.entry.count;
  if (places.inputs == 0) { return; }  // only synchronises
  const auto packs = static_cast<std::uint32_t>(places.packed ? count / Pack<T>::kCount : 0);
  reduce_packs<T, Operation>(step, places, packs, divisor);
  for (std::int64_t k = std::int64_t{packs} * Pack<T>::kCount + threadIdx.x; k < count; k += blockDim.x) {
    T value = step.in[0][k];
    for (std::uint32_t i = 1; i < places.inputs; ++i) { value = combine<Operation>(value, step.in[i][k]); }
    if (divisor > 1) { value = divided(value, divisor); }
    for (std::uint32_t o = 0; o < places.outputs; ++o) { step.out[o][k] = value; }
  }
}

/// Frees the slots that were received from, fills those that were sent to, and counts the primitive.
__device__ inline void end_primitive(const DeviceView& view, const LaneTables::Entry& entry, std::uint32_t lane,
                                     std::uint64_t ended) {
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < entry.receives + entry.sends + 1; i += blockDim.x) {
    if (i < entry.receives) {
      const DeviceConnection& connection = view.connections[view.in_connections[entry.first_receive + i]];
      publish(connection.freed, ++*connection.used, connection.here);
    } else if (i < entry.receives + entry.sends) {
      const DeviceConnection& connection = view.connections[entry.first_send + i - entry.receives];
      publish(connection.filled, ++*connection.sent, connection.here);
    } else {
      publish(&view.ended[lane], ended, true);
    }
  }
  __syncthreads();
}

/// One block per lane, all of them resident at once. Knows no algorithm: it interprets the tables of its lane.
template <class T, class Operation>
__global__ void __launch_bounds__(kMostThreads) run_lanes(const DeviceView view) {
  // Bytes, since what lies in shared memory may have no constructor.
  alignas(Step<T>) __shared__ std::byte storage[sizeof(Step<T>)];
  Step<T>& step = *reinterpret_cast<Step<T>*>(storage);
  const std::uint32_t index = view.lanes_here[blockIdx.x];
  const LaneTables::Lane lane = view.lanes[index];
  std::uint64_t ended = 0;
  for (std::uint64_t loop = 0; loop < lane.loops; ++loop) {
    const bool last = loop + 1 == lane.loops;
    const std::uint32_t first = last ? lane.tail : lane.body;
    for (std::uint32_t s = 0; s < lane.steps; ++s) {
      if (threadIdx.x == 0) { step.entry = view.entries[first + s]; }
      __syncthreads();
      std::int64_t wait_ended = step.entry.wait_ended;
      if (!last && step.entry.wait_lane != LaneTables::kNone) {
        wait_ended -= static_cast<std::int64_t>(lane.loops - 2 - loop) * view.lanes[step.entry.wait_lane].steps;
      }
      if (!await_start(view, step.entry, wait_ended)) { return; }
      const Places places = resolve(view, lane, last ? 0 : static_cast<std::int64_t>(loop), step);
      reduce<T, Operation>(step, places, step.entry.finish != 0 ? view.divisor : 1);
      end_primitive(view, step.entry, index, ++ended);
    }
  }
}

}  // namespace athanor
