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

  __device__ T& operator[](std::int64_t k) const { return base[run == 0 ? k : k / run * stride + k % run]; }
};

/// One primitive with all addresses resolved, shared by the threads of a block.
template <class T>
struct Step {
  LaneTables::Entry entry;
  std::uint32_t inputs;
  std::uint32_t outputs;
  bool packed;  ///< every place is contiguous and aligned to a Pack
  Strip<T> in[kMostPlaces];
  Strip<T> out[kMostPlaces];
};

/// 16 bytes of elements: what a thread loads and stores at once.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T values[kCount];
};

__device__ inline std::uint64_t load(const std::uint64_t* counter) {
  return cuda::atomic_ref<const std::uint64_t, cuda::thread_scope_system>(*counter).load(cuda::memory_order_acquire);
}
__device__ inline void publish(std::uint64_t* counter, std::uint64_t value) {
  cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>(*counter).store(value, cuda::memory_order_release);
}
__device__ inline bool stopped(const DeviceView& view) {
  return cuda::atomic_ref<const std::uint32_t, cuda::thread_scope_system>(*view.stop)
             .load(cuda::memory_order_relaxed) != 0;
}

/// Polls until the counter has reached `least`; false when the run has been stopped meanwhile.
__device__ inline bool await(const DeviceView& view, const std::uint64_t* counter, std::uint64_t least) {
  for (std::uint32_t polls = 0; load(counter) < least; ++polls) {
    if (polls % 1024 == 1023 && stopped(view)) { return false; }
  }
  return true;
}

template <class T>
__device__ Strip<T> place(const DeviceView& view, const LaneTables::CellRange& range, std::uint32_t agent,
                          std::int64_t moved_loops) {
  T* base = reinterpret_cast<T*>(view.buffers[agent * 3 + range.buffer]);
  return {base + range.first + moved_loops * view.shift[range.buffer], range.run, range.stride};
}

template <class T>
__device__ Strip<T> slot(const DeviceView& view, const DeviceConnection& connection, std::uint64_t message) {
  T* base = reinterpret_cast<T*>(connection.slots);
  return {base + static_cast<std::int64_t>(message % view.slots) * view.message_limit, 0, 0};
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

/// By one thread: where the primitive reads and writes.
template <class T>
__device__ void resolve(const DeviceView& view, const LaneTables::Lane& lane, std::uint64_t moved_loops,
                        Step<T>& step) {
  const LaneTables::Entry& entry = step.entry;
  const auto loops = static_cast<std::int64_t>(moved_loops);
  step.inputs = step.outputs = 0;
  for (const LaneTables::CellRange& operand : entry.operands) {
    if (operand.buffer != LaneTables::kNone) { step.in[step.inputs++] = place<T>(view, operand, lane.agent, loops); }
  }
  for (std::uint32_t i = 0; i < entry.receives; ++i) {
    const DeviceConnection& connection = view.connections[view.in_connections[entry.first_receive + i]];
    step.in[step.inputs++] = slot<T>(view, connection, *connection.used);
  }
  if (entry.store.buffer != LaneTables::kNone) {
    step.out[step.outputs++] = place<T>(view, entry.store, lane.agent, loops);
  }
  for (std::uint32_t i = 0; i < entry.sends; ++i) {
    const DeviceConnection& connection = view.connections[entry.first_send + i];
    step.out[step.outputs++] = slot<T>(view, connection, *connection.sent);
  }
  const auto aligned = [](const Strip<T>& p) {
    return p.run == 0 && reinterpret_cast<std::uintptr_t>(p.base) % 16 == 0;
  };
  step.packed = true;
  for (std::uint32_t i = 0; i < step.inputs; ++i) { step.packed = step.packed && aligned(step.in[i]); }
  for (std::uint32_t i = 0; i < step.outputs; ++i) { step.packed = step.packed && aligned(step.out[i]); }
}

template <class T, class Operation>
__device__ void reduce_packs(const Step<T>& step, std::int64_t packs, std::uint32_t divisor) {
  for (std::int64_t k = threadIdx.x; k < packs; k += blockDim.x) {
    Pack<T> value = reinterpret_cast<const Pack<T>*>(step.in[0].base)[k];
    for (std::uint32_t i = 1; i < step.inputs; ++i) {
      const Pack<T> other = reinterpret_cast<const Pack<T>*>(step.in[i].base)[k];
#pragma unroll
      for (int e = 0; e < Pack<T>::kCount; ++e) {
        value.values[e] = combine<Operation>(value.values[e], other.values[e]);
      }
    }
    if (divisor > 1) {
#pragma unroll
      for (int e = 0; e < Pack<T>::kCount; ++e) { value.values[e] = divided(value.values[e], divisor); }
    }
    for (std::uint32_t o = 0; o < step.outputs; ++o) { reinterpret_cast<Pack<T>*>(step.out[o].base)[k] = value; }
  }
}

template <class T, class Operation>
__device__ void reduce(const Step<T>& step, std::uint32_t divisor) {
  const std::int64_t count = step.entry.count;
  if (step.inputs == 0) { return; }  // only synchronises
  const std::int64_t packs = step.packed ? count / Pack<T>::kCount : 0;
  reduce_packs<T, Operation>(step, packs, divisor);
  for (std::int64_t k = packs * Pack<T>::kCount + threadIdx.x; k < count; k += blockDim.x) {
    T value = step.in[0][k];
    for (std::uint32_t i = 1; i < step.inputs; ++i) { value = combine<Operation>(value, step.in[i][k]); }
    if (divisor > 1) { value = divided(value, divisor); }
    for (std::uint32_t o = 0; o < step.outputs; ++o) { step.out[o][k] = value; }
  }
}

/// Frees the slots that were received from, fills those that were sent to, and counts the primitive.
__device__ inline void end_primitive(const DeviceView& view, const LaneTables::Entry& entry, std::uint32_t lane,
                                     std::uint64_t ended) {
  __threadfence_system();
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < entry.receives + entry.sends + 1; i += blockDim.x) {
    if (i < entry.receives) {
      const DeviceConnection& connection = view.connections[view.in_connections[entry.first_receive + i]];
      publish(connection.freed, ++*connection.used);
    } else if (i < entry.receives + entry.sends) {
      const DeviceConnection& connection = view.connections[entry.first_send + i - entry.receives];
      publish(connection.filled, ++*connection.sent);
    } else {
      publish(&view.ended[lane], ended);
    }
  }
  __syncthreads();
}

/// One block per lane, all of them resident at once. Knows no algorithm: it interprets the tables of its lane.
template <class T, class Operation>
__global__ void run_lanes(const DeviceView view) {
  __shared__ Step<T> step;
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
      if (threadIdx.x == 0) { resolve(view, lane, last ? 0 : loop, step); }
      __syncthreads();
      reduce<T, Operation>(step, step.entry.finish != 0 ? view.ranks : 1);
      end_primitive(view, step.entry, index, ++ended);
    }
  }
}

}  // namespace athanor
