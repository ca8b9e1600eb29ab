// CUDA's runtime over the emulated GPUs.
#include <cstring>

#include <fmt/core.h>

#include "tests/algorithms/execution/cuda/emulated_state.hpp"

using namespace athanor::emulation;

namespace {

thread_local int current = 0;

using Lock = std::unique_lock<std::mutex>;
using State = EmulatedGpus::State;

State& machine() { return EmulatedGpus::machine().state(); }

/// A call that can fail: counted, and made to fail where that is wanted. `carry_out(state, lock)` gives its result.
template <class CarryOut>
cudaError_t call(CarryOut carry_out) {
  State& state = machine();
  Lock lock(state.mutex);
  if (state.strikes(GpuFault::Kind::call, state.calls++)) { return cudaErrorUnknown; }
  return carry_out(state, lock);
}

EmulatedDevice& device_of(State& state, int device) { return state.devices[static_cast<std::size_t>(device)]; }
EmulatedDevice& present_device(State& state) { return device_of(state, current); }
cudaError_t health(const EmulatedDevice& device) { return device.broken ? cudaErrorIllegalAddress : cudaSuccess; }

/// Something that the null stream of the present device will do some time.
template <class Work>
cudaError_t later(State& state, const void* memory, std::size_t bytes, Work work) {
  if (!state.memory.holds(memory, bytes)) {
    state.note(fmt::format("{} bytes are set or copied where they were not allocated", bytes));
    return cudaErrorInvalidValue;
  }
  present_device(state).pending.emplace_back(std::move(work));
  return health(present_device(state));
}

void carry_out_all(CUstream_st& stream) {
  State& state = machine();
  Lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&] { return stream.closing || !stream.work.empty(); });
    if (stream.work.empty()) { return; }
    const std::function<void()> next = std::move(stream.work.front());
    stream.work.pop_front();
    stream.busy = true;
    lock.unlock();
    next();
    lock.lock();
    stream.busy = false;
    state.changed.notify_all();
  }
}

void enqueue(State& state, cudaStream_t stream, std::function<void()> work) {
  stream->work.push_back(std::move(work));
  state.changed.notify_all();
}

/// A kernel in its stream: begins when all its blocks fit beside those that run.
void carry_out(int number, const void* function, const athanor::DeviceView& view, unsigned blocks, unsigned threads) {
  State& state = machine();
  EmulatedDevice& device = device_of(state, number);
  {
    Lock lock(state.mutex);
    const int most = state.setup.processors * state.setup.blocks_each;
    state.changed.wait(lock, [&] { return device.broken || device.resident + static_cast<int>(blocks) <= most; });
    device.resident += static_cast<int>(blocks);
  }
  using Kernel = void (*)(athanor::DeviceView);
  if (!device.broken) { run_kernel(state, number, reinterpret_cast<Kernel>(function), view, blocks, threads); }
  const std::scoped_lock lock(state.mutex);
  device.resident -= static_cast<int>(blocks);
  state.changed.notify_all();
}

void load(State& state, Lock& lock, const void* function) {
  EmulatedDevice& device = present_device(state);
  if (device.loaded.contains(function)) { return; }
  const int here = current;
  state.wait(lock, "a kernel is loaded while another runs that does not end", [&] { return state.idle(here); });
  device.loaded.insert(function);
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
    case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
    case cudaErrorUnknown: return "unknown error";
    default: return "another error";
  }
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&](State& state, Lock&) {
    *count = state.setup.devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return call([&](State&, Lock&) {
    *device = current;
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device) {
  return call([&](State& state, Lock&) {
    if (device < 0 || device >= state.setup.devices) { return cudaErrorInvalidDevice; }
    current = device;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return call([&](State&, Lock&) {
    std::strcpy(properties->name, "Emulated GPU");
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  return call([&](State& state, Lock&) {
    *value = attribute == cudaDevAttrL2CacheSize ? state.setup.cache : state.setup.processors;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  return call([&](State& state, Lock&) {
    *possible = state.setup.peers && device != peer ? 1 : 0;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call([&](State& state, Lock&) {
    if (peer == current) { return cudaErrorInvalidDevice; }
    return state.peers.emplace(current, peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return call([&](State& state, Lock& lock) {
    const int device = current;
    state.wait(lock, "a device is waited for whose kernel does not end", [&] { return state.idle(device); });
    present_device(state).catch_up();
    return health(present_device(state));
  });
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call([&](State& state, Lock&) {
    *memory = state.memory.allocate(bytes, current);
    return health(present_device(state));
  });
}
cudaError_t cudaFree(void* memory) {
  State& state = machine();
  Lock lock(state.mutex);
  if (!state.memory.holds(memory, 0)) { return cudaErrorInvalidValue; }
  const int device = state.memory.device(memory);
  state.wait(lock, "memory is freed while a kernel runs that does not end", [&] { return state.idle(device); });
  for (EmulatedDevice& each : state.devices) { each.catch_up(); }
  if (const std::string damage = state.memory.free(memory); !damage.empty()) { state.note(damage); }
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) { return cudaMalloc(memory, bytes); }
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }
cudaError_t cudaHostGetDevicePointer(void** on_device, void* memory, unsigned) {
  return call([&](State&, Lock&) {
    *on_device = memory;
    return cudaSuccess;
  });
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return call(
      [&](State& state, Lock&) { return later(state, memory, bytes, [=] { std::memset(memory, value, bytes); }); });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call([&](State& state, Lock&) {
    if (kind == cudaMemcpyHostToDevice) {
      const auto* const first = static_cast<const std::byte*>(from);
      const std::vector<std::byte> staged(first, first + bytes);
      return later(state, to, bytes, [=] { std::memcpy(to, staged.data(), bytes); });
    }
    if (!state.memory.holds(from, bytes)) { return cudaErrorInvalidValue; }
    present_device(state).catch_up();
    std::memcpy(to, from, bytes);
    return health(present_device(state));
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return call([&](State& state, Lock&) {
    *stream = new CUstream_st;
    (*stream)->device = current;
    (*stream)->worker = std::thread([made = *stream] { carry_out_all(*made); });
    state.streams.insert(*stream);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  State& state = machine();
  {
    const std::scoped_lock lock(state.mutex);
    stream->closing = true;
    state.changed.notify_all();
  }
  stream->worker.join();
  const std::scoped_lock lock(state.mutex);
  state.streams.erase(stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](State& state, Lock& lock) {
    if (stream == nullptr) {
      present_device(state).catch_up();
      return health(present_device(state));
    }
    state.wait(lock, "a stream is waited for whose kernel does not end",
               [&] { return stream->work.empty() && !stream->busy; });
    return health(device_of(state, stream->device));
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call([&](State& state, Lock&) {
    *event = new CUevent_st;
    (*event)->device = current;
    state.events.insert(*event);
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  State& state = machine();
  Lock lock(state.mutex);
  state.wait(lock, "an event is destroyed behind a kernel that does not end", [&] { return !event->pending; });
  state.events.erase(event);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](State& state, Lock&) {
    event->pending = true;
    enqueue(state, stream, [event] {
      const std::scoped_lock lock(machine().mutex);
      event->time = std::chrono::steady_clock::now();
      event->turn = ++machine().turns;
      event->pending = false;
      machine().changed.notify_all();
    });
    return health(device_of(state, stream->device));
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](State& state, Lock& lock) {
    // Who asks over and over again would take the processor from what it waits for.
    EmulatedDevice& device = device_of(state, event->device);
    state.changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return !event->pending || device.broken; });
    const cudaError_t status = health(device);
    return status == cudaSuccess && event->pending ? cudaErrorNotReady : status;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return call([&](State&, Lock&) {
    if (begin->pending || end->pending) { return cudaErrorNotReady; }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call([&](State& state, Lock& lock) {
    *attributes = {};
    load(state, lock, function);
    return health(present_device(state));
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  return call([&](State& state, Lock&) {
    *blocks = state.setup.blocks_each;
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t,
                                        cudaStream_t stream) {
  return call([&](State& state, Lock& lock) {
    EmulatedDevice& device = device_of(state, stream->device);
    if (device.broken) { return health(device); }
    const bool here = state.fault.device == stream->device;
    if (here && state.strikes(GpuFault::Kind::launch, device.launched++)) { return cudaErrorLaunchOutOfResources; }
    if (static_cast<int>(grid.x) > state.setup.processors * state.setup.blocks_each) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
    load(state, lock, function);
    const athanor::DeviceView view = *static_cast<const athanor::DeviceView*>(arguments[0]);
    if (state.setup.slow_launches) {
      state.changed.wait_for(lock, std::chrono::milliseconds(5), [] { return false; });
    }
    state.last_launch = ++state.turns;
    enqueue(state, stream, [number = stream->device, function, view, blocks = grid.x, threads = block.x] {
      carry_out(number, function, view, blocks, threads);
    });
    return cudaSuccess;
  });
}
