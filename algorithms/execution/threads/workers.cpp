#include "algorithms/execution/threads/workers.hpp"

#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace athanor {

namespace {

/// Tells the processor that this is a loop that waits.
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Keeps the calling thread, one of `workers`, on the processor of that number among those that this process may use.
/// Does nothing where there are fewer processors than workers, or where the system does not let threads choose.
#if defined(__linux__)
void pin_worker(std::uint32_t worker, std::uint32_t workers) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) { return; }
  if (static_cast<std::uint32_t>(CPU_COUNT(&allowed)) < workers) { return; }
  std::uint32_t before = 0;
  for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || before++ < worker) { continue; }
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    pthread_setaffinity_np(pthread_self(), sizeof own, &own);  // a refusal leaves the thread where it may go
    return;
  }
}
#else
void pin_worker(std::uint32_t, std::uint32_t) {}
#endif

/// About 50 us where every worker has a processor: as long as waking a sleeper takes, several times over. Where they
/// share processors spinning keeps the others from their work.
int spins_for(std::uint32_t workers) { return workers <= std::thread::hardware_concurrency() ? 1000 : 10; }

}  // namespace

Workers::Workers(Lanes& lanes, std::vector<std::uint32_t> homes, std::uint32_t workers, bool pinned)
    : lanes_(lanes),
      wake_([this](std::uint32_t lane) { wake(lane); }),
      spins_(spins_for(workers)),
      items_(homes.size()),
      queues_(workers) {
  for (std::uint32_t lane = 0; lane < items_.size(); ++lane) {
    items_[lane].lane = lane;
    items_[lane].home = homes[lane];
  }
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    threads_.emplace_back([this, worker, pinned, workers] {
      if (pinned) { pin_worker(worker, workers); }
      serve(worker);
    });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  commanded_.notify_all();
  for (std::thread& thread : threads_) { thread.join(); }
}

Workers::Report Workers::run(std::chrono::nanoseconds time_limit) {
  if (items_.empty()) { return {}; }
  set_up();
  const Outcome outcome = await(time_limit);
  if (error_) { std::rethrow_exception(std::exchange(error_, nullptr)); }
  return {outcome, end_ - begin_};
}

/// No worker is at work here; the command that follows passes on what is written.
void Workers::set_up() {
  lanes_.reset();
  for (ReadyQueue& queue : queues_) { queue.take(); }
  for (Item& item : items_) {
    item.activity.store(Activity::queued, std::memory_order_relaxed);
    queues_[item.home].push(item, parked_);
  }
  unended_.store(items_.size(), std::memory_order_relaxed);
  stop_.store(false, std::memory_order_relaxed);
  deadlocked_.store(false, std::memory_order_relaxed);
  ready_.store(0, std::memory_order_relaxed);
}

Workers::Outcome Workers::await(std::chrono::nanoseconds time_limit) {
  std::unique_lock lock(mutex_);
  ++commands_;
  busy_ = static_cast<std::uint32_t>(threads_.size());
  commanded_.notify_all();
  const auto finished = [this] { return busy_ == 0; };
  if (!finished_.wait_for(lock, time_limit, finished)) {
    lock.unlock();
    halt();
    lock.lock();
    finished_.wait(lock, finished);
  }
  if (unended_.load(std::memory_order_relaxed) == 0) { return Outcome::ended; }
  return deadlocked_.load(std::memory_order_relaxed) ? Outcome::deadlocked : Outcome::timed_out;
}

void Workers::serve(std::uint32_t worker) {
  for (std::uint64_t served = 0; next_command(served); ++served) {
    stand_ready();
    try {
      work(worker);
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!error_) { error_ = std::current_exception(); }
      }
      halt();
    }
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) { finished_.notify_one(); }
  }
}

bool Workers::next_command(std::uint64_t served) {
  std::unique_lock lock(mutex_);
  commanded_.wait(lock, [&] { return quit_ || commands_ > served; });
  return !quit_;
}

/// All workers meet; the last one starts the clock. Nobody can be missing for long: each comes here first.
void Workers::stand_ready() {
  const std::uint64_t started = started_.load(std::memory_order_relaxed);
  if (ready_.fetch_add(1, std::memory_order_acq_rel) + 1 == queues_.size()) {
    begin_ = end_ = Clock::now();
    started_.store(started + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; started_.load(std::memory_order_acquire) == started; ++spins) {
    if (spins < spins_) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void Workers::work(std::uint32_t worker) {
  while (!over()) {
    Task* task = queues_[worker].take();
    if (task == nullptr) { idle(worker); }
    while (task != nullptr) {
      Task* const next = task->next;  // from advance() on, the task may stand in the queue again
      advance(static_cast<Item&>(*task));
      task = next;
    }
  }
}

void Workers::idle(std::uint32_t worker) {
  ReadyQueue& queue = queues_[worker];
  for (int spins = 0; spins < spins_; ++spins) {
    if (!queue.empty() || over()) { return; }
    pause();
  }
  const auto alone = [this] {
    if (over()) { return; }
    deadlocked_.store(true, std::memory_order_relaxed);
    halt();
  };
  queue.park(
      parked_, static_cast<std::int64_t>(queues_.size()), [this] { return over(); }, alone);
}

void Workers::advance(Item& item) {
  // Acquire, here and below: what others did before they changed the activity, such as sending a message.
  item.activity.exchange(Activity::running, std::memory_order_acq_rel);
  while (!lanes_.advance(item.lane, wake_, stop_)) {
    if (stop_.load(std::memory_order_relaxed)) { return; }
    Activity expected = Activity::running;
    // Release: the next to advance this lane sees its state.
    if (item.activity.compare_exchange_strong(expected, Activity::blocked, std::memory_order_acq_rel)) { return; }
    item.activity.exchange(Activity::running, std::memory_order_acq_rel);
  }
  count_ended();  // the activity stays, so that nobody queues this lane again
}

/// Always changes the activity, be it to what it is: a mere look could miss that the lane has just found itself
/// blocked, without having seen what the caller did.
void Workers::wake(std::uint32_t lane) {
  Item& item = items_[lane];
  Activity activity = item.activity.load(std::memory_order_relaxed);
  const auto woken = [](Activity before) {
    switch (before) {
      case Activity::blocked:
      case Activity::queued: return Activity::queued;
      case Activity::running:
      case Activity::notified: break;
    }
    return Activity::notified;
  };
  while (!item.activity.compare_exchange_weak(activity, woken(activity), std::memory_order_acq_rel,
                                              std::memory_order_relaxed)) {}
  if (activity == Activity::blocked) { queues_[item.home].push(item, parked_); }
}

void Workers::count_ended() {
  if (unended_.fetch_sub(1, std::memory_order_acq_rel) != 1) { return; }
  end_ = Clock::now();
  for (ReadyQueue& queue : queues_) { queue.nudge(parked_); }
}

bool Workers::over() const {
  return stop_.load(std::memory_order_relaxed) || unended_.load(std::memory_order_acquire) == 0;
}

void Workers::halt() {
  stop_.store(true, std::memory_order_release);
  for (ReadyQueue& queue : queues_) { queue.nudge(parked_); }
}

}  // namespace athanor
