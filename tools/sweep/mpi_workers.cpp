#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "algorithms/execution/mpi/communicator.hpp"
#include "algorithms/execution/mpi/session.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tools/sweep/points.hpp"
#include "tools/sweep/workers.hpp"

namespace athanor {

namespace {

constexpr int kLeader = 0;
/// To the leader: outcomes, and behind them in eight bytes how many points are wanted, or kFarewell.
constexpr int kReport = 1;
/// From the leader, to each wish: points, each of eight bytes; none: there are none any more.
constexpr int kPoints = 2;
constexpr std::uint64_t kFarewell = UINT64_MAX;
/// Of a process that waits for the leader, between two looks: what it costs is far below the time of a point.
constexpr std::chrono::microseconds kPause{200};

void send(const Communicator& world, int to, int tag, const void* data, std::size_t bytes) {
  if (bytes > INT32_MAX) { throw SimulationError("mpi", "the results of one point are larger than 2 GiB"); }
  check_mpi(MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, world.get()), "MPI_Send");
}

/// The next message of this kind that is there, or none.
std::optional<std::pair<int, std::string>> receive(const Communicator& world, int from, int tag) {
  int found = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(from, tag, world.get(), &found, &status), "MPI_Iprobe");
  if (found == 0) { return std::nullopt; }
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  check_mpi(MPI_Recv(text.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, world.get(), MPI_STATUS_IGNORE), "MPI_Recv");
  return std::pair(status.MPI_SOURCE, std::move(text));
}

std::uint64_t number_at(std::string_view text, std::size_t offset) {
  std::uint64_t number = 0;
  std::copy_n(text.data() + offset, sizeof number, reinterpret_cast<char*>(&number));
  return number;
}

void append(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

class MpiWorkers : public SweepWorkers {
 public:
  MpiWorkers() : world_(MPI_COMM_WORLD), handed_out_(world_.size(), 0), gone_(world_.size(), false) {
    gone_[kLeader] = true;
    if (world_.size() != launched_processes()) {
      throw SimulationError("mpi",
                            fmt::format("{} processes were started, but MPI joins {} of them; is this the mpirun of "
                                        "the MPI library that athanor was built with?",
                                        launched_processes(), world_.size()));
    }
  }

  std::uint32_t processes() const override { return world_.size(); }
  bool leads() const override { return world_.rank() == kLeader; }
  std::size_t under_way() const override {
    return std::accumulate(handed_out_.begin(), handed_out_.end(), std::size_t{0}) +
           static_cast<std::size_t>(std::count(gone_.begin(), gone_.end(), false));
  }

  std::vector<SweepOutcome> serve(const std::function<bool(std::uint64_t&)>& next) override {
    std::vector<SweepOutcome> outcomes;
    while (auto report = receive(world_, MPI_ANY_SOURCE, kReport)) {
      const std::string_view text(report->second);
      const std::size_t end = text.size() - sizeof(std::uint64_t);
      const auto process = static_cast<std::size_t>(report->first);
      for (SweepOutcome& each : unpack(text.substr(0, end))) {
        outcomes.push_back(std::move(each));
        --handed_out_[process];
      }
      hand_out(process, number_at(text, end), next);
    }
    return outcomes;
  }

  void work(const SweepOrder& order, std::uint32_t threads, const std::function<bool()>& interrupted) override {
    PointPool pool(order, threads, interrupted);
    bool more = true;
    std::vector<SweepOutcome> done;
    while ((more && !interrupted()) || pool.under_way() > 0 || !done.empty()) {
      const std::uint64_t wanted = more && !interrupted() ? pool.room() : 0;
      if (wanted > 0 || !done.empty()) { more = report(done, wanted, pool) && more; }
      done = pool.take(std::chrono::milliseconds(100));
    }
    report(done, kFarewell, pool);
  }

 private:
  void hand_out(std::size_t process, std::uint64_t wanted, const std::function<bool(std::uint64_t&)>& next) {
    if (wanted == kFarewell) {  // what it gave up is not simulated
      gone_[process] = true;
      handed_out_[process] = 0;
      return;
    }
    if (wanted == 0) { return; }
    std::string points;
    for (std::uint64_t point = 0; wanted > 0 && next(point); --wanted) {
      append(points, point);
      ++handed_out_[process];
    }
    send(world_, static_cast<int>(process), kPoints, points.data(), points.size());
  }

  /// Sends what was done, which then is empty, and asks for more; false: there is no more.
  bool report(std::vector<SweepOutcome>& done, std::uint64_t wanted, PointPool& pool) {
    std::string text = pack(std::exchange(done, {}));
    append(text, wanted);
    send(world_, kLeader, kReport, text.data(), text.size());
    if (wanted == 0 || wanted == kFarewell) { return true; }
    for (;;) {
      if (const auto points = receive(world_, kLeader, kPoints)) {
        for (std::size_t i = 0; i < points->second.size(); i += sizeof(std::uint64_t)) {
          pool.submit(number_at(points->second, i));
        }
        return !points->second.empty();
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  MpiSession session_;
  Communicator world_;
  std::vector<std::size_t> handed_out_;  ///< to each process, and not come back
  std::vector<bool> gone_;               ///< each process: it simulates nothing any more
};

}  // namespace

std::unique_ptr<SweepWorkers> sweep_workers() {
  if (launched_processes() == 1) { return std::make_unique<LoneWorker>(); }
  return std::make_unique<MpiWorkers>();
}

}  // namespace athanor
