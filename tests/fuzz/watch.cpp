#include "tests/fuzz/watch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace athanor::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 2000;
constexpr int kFaultStatus = 99;
/// Where a try waits for something without using the processor.
constexpr std::chrono::seconds kMostWaiting{120};

/// Set by Ctrl-C, and by who ends a long run: what has been tried is summed up all the same.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

/// What a process tells the one that watches it, in memory of both.
struct Shared {
  std::atomic<std::uint64_t> current{0};
  std::atomic<std::uint32_t> group{0};
  std::array<char, 600> fault{};
  std::array<std::array<std::atomic<std::uint64_t>, kMostOutcomes>, kMostGroups> outcomes{};
  std::array<std::atomic<std::uint64_t>, kMostLaws> held{};
};

/// One process and what it is to do.
struct Worker {
  pid_t process = 0;
  std::uint64_t next = 0;
  std::uint64_t end = 0;
  std::uint64_t seen = 0;  ///< the index that it was at when it was looked at last
  Clock::time_point since;
  Shared* shared = nullptr;
};

Shared* make_shared_memory() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) { throw std::runtime_error("no memory to share"); }
  return new (memory) Shared;
}

void limit(const Watch& wanted) {
  if (wanted.memory > 0) {
    const rlimit bytes{wanted.memory, wanted.memory};
    setrlimit(RLIMIT_DATA, &bytes);
  }
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

/// The signal of this timer ends the process.
void start_timer(unsigned seconds) {
  const itimerval timer{{0, 0}, {static_cast<time_t>(seconds), 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// What leaves the command line ends the program: here it would take the folder of all others with it.
Verdict attempt(const Try& one, std::uint64_t index) {
  try {
    return one(index);
  } catch (const std::exception& error) { return {0, 1, std::string("crash: uncaught exception: ") + error.what()}; }
}

void do_tries(const Watch& wanted, const Try& one, Worker& worker) {
  limit(wanted);
  Shared& shared = *worker.shared;
  for (std::uint64_t index = worker.next; index < worker.end; ++index) {
    shared.current = index;
    start_timer(wanted.cpu_seconds);
    const Verdict verdict = attempt(one, index);
    shared.group = verdict.group;
    ++shared.outcomes[verdict.group][verdict.outcome];
    for (std::size_t law = 0; law < kMostLaws; ++law) { shared.held[law] += verdict.held >> law & 1U; }
    if (verdict.fault.empty()) { continue; }
    const std::size_t length = std::min(verdict.fault.size(), shared.fault.size() - 1);
    std::memcpy(shared.fault.data(), verdict.fault.data(), length);
    shared.fault[length] = '\0';
    _exit(kFaultStatus);
  }
  _exit(0);
}

void start(const Watch& wanted, const Try& one, Worker& worker) {
  worker.shared->current = worker.next;
  worker.seen = worker.next;
  worker.since = Clock::now();
  worker.process = fork();
  if (worker.process < 0) { throw std::runtime_error("no further process can be started"); }
  if (worker.process == 0) { do_tries(wanted, one, worker); }
}

std::string fault_of_status(int status, const Shared& shared) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF) { return "hang: it used all the time that one may take"; }
    return fmt::format("crash: signal {} ({})", signal, strsignal(signal));
  }
  if (WEXITSTATUS(status) == kFaultStatus) { return shared.fault.data(); }
  return fmt::format("crash: it ended the process with status {}", WEXITSTATUS(status));
}

class Watcher {
 public:
  Watcher(const Watch& wanted, const Try& one, const std::function<void(const Fault&)>& told)
      : wanted_(wanted), one_(one), told_(told), next_(wanted.first), began_(Clock::now()) {
    for (unsigned i = 0; i < wanted.jobs; ++i) { workers_.emplace_back().shared = make_shared_memory(); }
  }
  ~Watcher() {
    for (const Worker& worker : workers_) { munmap(worker.shared, sizeof(Shared)); }
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  Watched run() {
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    bool busy = true;
    while (busy) {
      busy = false;
      for (Worker& worker : workers_) { busy = attend(worker) || busy; }
      tell_progress();
      std::this_thread::sleep_for(std::chrono::milliseconds(busy ? 4 : 0));
    }
    result_.seconds = elapsed();
    for (const Worker& worker : workers_) { add_outcomes(*worker.shared); }
    return std::move(result_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  void tell_progress() {
    constexpr double kEvery = 60;  // s
    if (elapsed() < told_at_ + kEvery) { return; }
    told_at_ = elapsed();
    fmt::print(stderr, "{:.0f} min: {} tries, {} faults\n", told_at_ / 60, result_.tries, result_.faults.size());
  }

  /// The next tries of a process that has none left; false where there are no more.
  bool give(Worker& worker) {
    const bool over = interrupted != 0 || (wanted_.seconds > 0 && elapsed() >= wanted_.seconds) ||
                      (wanted_.count > 0 && next_ >= wanted_.first + wanted_.count) ||
                      result_.faults.size() >= wanted_.most_faults;
    if (over) { return false; }
    worker.next = next_;
    worker.end = next_ + kBatch;
    if (wanted_.count > 0) { worker.end = std::min(worker.end, wanted_.first + wanted_.count); }
    next_ = worker.end;
    return true;
  }

  /// False: nothing is left to do for it.
  bool attend(Worker& worker) {
    if (worker.process == 0) {
      if (worker.next == worker.end && !give(worker)) { return false; }
      start(wanted_, one_, worker);
      return true;
    }
    int status = 0;
    if (waitpid(worker.process, &status, WNOHANG) == worker.process) {
      settle(worker, status);
    } else {
      end_where_it_waits(worker);
    }
    return true;
  }

  void settle(Worker& worker, int status) {
    worker.process = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      result_.tries += worker.end - worker.next;
      worker.next = worker.end;
      return;
    }
    const std::uint64_t index = worker.shared->current;
    result_.tries += index + 1 - worker.next;
    worker.next = index + 1;
    result_.faults.push_back({index, worker.shared->group, fault_of_status(status, *worker.shared)});
    told_(result_.faults.back());
    if (result_.faults.size() >= wanted_.most_faults) { worker.next = worker.end; }
  }

  static void end_where_it_waits(Worker& worker) {
    const std::uint64_t index = worker.shared->current;
    if (index != worker.seen) {
      worker.seen = index;
      worker.since = Clock::now();
    } else if (Clock::now() - worker.since > kMostWaiting) {
      kill(worker.process, SIGPROF);
    }
  }

  void add_outcomes(const Shared& shared) {
    for (std::size_t law = 0; law < kMostLaws; ++law) { result_.held[law] += shared.held[law]; }
    for (std::size_t group = 0; group < kMostGroups; ++group) {
      for (std::size_t outcome = 0; outcome < kMostOutcomes; ++outcome) {
        result_.outcomes[group][outcome] += shared.outcomes[group][outcome];
      }
    }
  }

  const Watch& wanted_;
  const Try& one_;
  const std::function<void(const Fault&)>& told_;
  std::uint64_t next_;
  Clock::time_point began_;
  double told_at_ = 0;
  std::vector<Worker> workers_;
  Watched result_;
};

}  // namespace

Watched watch(const Watch& wanted, const Try& one, const std::function<void(const Fault&)>& told) {
  return Watcher(wanted, one, told).run();
}

std::string fault_of(const Watch& wanted, const Try& one, std::uint64_t index) {
  Watch alone = wanted;
  alone.first = index;
  alone.count = 1;
  alone.seconds = 0;
  alone.jobs = 1;
  const Watched watched = watch(alone, one, [](const Fault&) {});
  return watched.faults.empty() ? "" : watched.faults.front().what;
}

}  // namespace athanor::fuzz
