#include "tests/algorithms/execution/cuda/block_threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <cuda_runtime.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace athanor::emulation {

namespace {

constexpr std::size_t kStack = 128 * 1024;

#if defined(__SANITIZE_THREAD__)
void* make_in_sanitizer() { return __tsan_create_fiber(0); }
void end_in_sanitizer(void* fiber) { __tsan_destroy_fiber(fiber); }
void* present_in_sanitizer() { return __tsan_get_current_fiber(); }
/// Without making what came before one visible to the other: that is for barriers. But at its end.
void switch_in_sanitizer(void* fiber, bool for_good = false) {
  __tsan_switch_to_fiber(fiber, for_good ? 0U : unsigned{__tsan_switch_to_fiber_no_sync});
}
void acquire_in_sanitizer(void* point) { __tsan_acquire(point); }
void release_in_sanitizer(void* point) { __tsan_release(point); }
#else
void* make_in_sanitizer() { return nullptr; }
void end_in_sanitizer(void*) {}
void* present_in_sanitizer() { return nullptr; }
void switch_in_sanitizer(void*, bool = false) {}
void acquire_in_sanitizer(void*) {}
void release_in_sanitizer(void*) {}
#endif

#if defined(__SANITIZE_ADDRESS__)
void leaves_stack(void** saved, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
}
void enters_stack(void* saved, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(saved, bottom, bytes);
}
#else
void leaves_stack(void**, const void*, std::size_t) {}
void enters_stack(void*, const void**, std::size_t*) {}
#endif

thread_local BlockThreads* starting = nullptr;

}  // namespace

struct BlockThreads::Fiber {
  explicit Fiber(unsigned of_number)
      : number(of_number), stack(std::make_unique_for_overwrite<char[]>(kStack)), in_sanitizer(make_in_sanitizer()) {}
  ~Fiber() { end_in_sanitizer(in_sanitizer); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  unsigned number;
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
  // Relaxed: written and read in turns by one thread of the system.
  std::atomic<State> state{State::ready};
  std::atomic<unsigned> meetings{0};
  void* in_sanitizer;
};

BlockThreads::BlockThreads(unsigned count, std::function<void()> idle) : idle_(std::move(idle)) {
  for (unsigned number = 0; number < count; ++number) { fibers_.push_back(std::make_unique<Fiber>(number)); }
}
BlockThreads::~BlockThreads() = default;

bool BlockThreads::run(const std::function<void()>& body) {
  if (fibers_.size() == 1) { return run_alone(body); }
  body_ = &body;
  aborted_ = false;
  arrived_ = 0;
  main_in_sanitizer_ = present_in_sanitizer();
  release_in_sanitizer(&sync_[1]);
  for (const auto& fiber : fibers_) {
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack.get();
    fiber->context.uc_stack.ss_size = kStack;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, &BlockThreads::begin, 0);
    fiber->state.store(State::ready, std::memory_order_relaxed);
    fiber->meetings.store(0, std::memory_order_relaxed);
  }
  meetings_ = 0;
  starting = this;
  while (!all_at(State::ended)) { turn(); }
  acquire_in_sanitizer(&sync_[0]);
  acquire_in_sanitizer(&sync_[1]);
  return !aborted_;
}

bool BlockThreads::run_alone(const std::function<void()>& body) {
  threadIdx.x.set(0);
  try {
    body();
  } catch (const Ended&) { return false; }
  return true;
}

/// Of every thread that can go on.
void BlockThreads::turn() {
  const std::size_t count = fibers_.size();
  for (std::size_t k = 0; k < count; ++k) {
    Fiber& fiber = *fibers_[meetings_ % 2 == 0 ? k : count - 1 - k];
    if (fiber.state.load(std::memory_order_relaxed) == State::ready) { resume(fiber); }
  }
  const auto ready = [](const auto& fiber) { return fiber->state.load(std::memory_order_relaxed) == State::ready; };
  if (std::any_of(fibers_.begin(), fibers_.end(), ready)) { return idle_(); }
  if (all_at(State::meeting)) { return release(); }
  if (!all_at(State::ended) && !aborted_) {
    throw std::logic_error("some threads of a block wait in a barrier, and others have ended");
  }
  if (aborted_) { release(); }
}

void BlockThreads::release() {
  ++meetings_;
  arrived_.store(0, std::memory_order_relaxed);
  for (const auto& fiber : fibers_) {
    if (fiber->state.load(std::memory_order_relaxed) == State::meeting) {
      fiber->state.store(State::ready, std::memory_order_relaxed);
    }
  }
}

bool BlockThreads::all_at(State state) const {
  return std::all_of(fibers_.begin(), fibers_.end(),
                     [&](const auto& fiber) { return fiber->state.load(std::memory_order_relaxed) == state; });
}

void BlockThreads::resume(Fiber& fiber) {
  present_.store(&fiber, std::memory_order_relaxed);
  threadIdx.x.set(fiber.number);
  release_in_sanitizer(&starting);
  void* saved = nullptr;
  leaves_stack(&saved, fiber.stack.get(), kStack);
  switch_in_sanitizer(fiber.in_sanitizer);
  swapcontext(&main_, &fiber.context);
  enters_stack(saved, nullptr, nullptr);
}

void BlockThreads::leave(Fiber& fiber, bool for_good) {
  void* saved = nullptr;
  leaves_stack(for_good ? nullptr : &saved, main_stack_, main_stack_bytes_);
  switch_in_sanitizer(main_in_sanitizer_, for_good);
  swapcontext(&fiber.context, &main_);
  enters_stack(saved, &main_stack_, &main_stack_bytes_);
}

void BlockThreads::begin() {
  acquire_in_sanitizer(&starting);
  BlockThreads& block = *starting;
  enters_stack(nullptr, &block.main_stack_, &block.main_stack_bytes_);
  Fiber& fiber = *block.present_.load(std::memory_order_relaxed);
  acquire_in_sanitizer(&block.sync_[1]);
  try {
    (*block.body_)();
  } catch (const Ended&) { block.aborted_.store(true, std::memory_order_relaxed); }
  release_in_sanitizer(&block.sync_[0]);
  fiber.state.store(State::ended, std::memory_order_relaxed);
  block.leave(fiber, true);
  std::abort();  // an ended thread does not go on
}

bool BlockThreads::meet(bool holds) {
  if (fibers_.size() == 1) { return holds; }
  Fiber& fiber = *fibers_[threadIdx.x];
  const unsigned meeting = fiber.meetings.load(std::memory_order_relaxed);
  fiber.meetings.store(meeting + 1, std::memory_order_relaxed);
  release_in_sanitizer(&sync_[meeting % 2]);
  // The first to come begins a verdict anew. There are two of them, since others may still have to read the one before.
  std::atomic<bool>& verdict = verdicts_[meeting % 2];
  const bool first = arrived_.load(std::memory_order_relaxed) == 0;
  arrived_.store(arrived_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  verdict.store((first || verdict.load(std::memory_order_relaxed)) && holds, std::memory_order_relaxed);
  fiber.state.store(State::meeting, std::memory_order_relaxed);
  leave(fiber, false);
  acquire_in_sanitizer(&sync_[meeting % 2]);
  if (aborted_.load(std::memory_order_relaxed)) { throw Ended{}; }
  return verdict.load(std::memory_order_relaxed);
}

void BlockThreads::pause() {
  if (fibers_.size() == 1) { return idle_(); }
  leave(*fibers_[threadIdx.x], false);
  if (aborted_.load(std::memory_order_relaxed)) { throw Ended{}; }
}

}  // namespace athanor::emulation
