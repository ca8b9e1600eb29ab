#include "algorithms/execution/mpi/session.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "algorithms/execution/mpi/communicator.hpp"

namespace athanor {

namespace {

/// Do all processes come here within a moment?
bool all_come() {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) { return false; }
  int done = 0;
  Backoff backoff(2, std::chrono::seconds{1});
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0 && backoff.goes_on(false)) {}
  return done != 0;
}

}  // namespace

MpiSession::MpiSession() {
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  // What concerns several requests at once MPICH tells the handlers of these, whatever communicator they belong to.
  for (const MPI_Comm communicator : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    check_mpi(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() > 0 && !all_come()) { return; }
  MPI_Finalize();
}

std::string MpiSession::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string_view all(text.data(), static_cast<std::size_t>(length));
  const std::string_view line = all.substr(0, all.find_first_of(std::string_view("\n\0", 2)));
  return std::string(line.substr(0, line.find_last_not_of(" \t\r") + 1));
}

void MpiSession::abort(std::string_view message) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr, "athanor: error: MPI process {}: {}\n", rank, message);
  std::fflush(stderr);
  // MPICH's launcher ends all as soon as one aborts, and what it has not read of their output by then is lost.
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

Watchdog::Watchdog(std::string message) : message_(std::move(message)), thread_([this] { guard(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Watchdog::watch(std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  limit_ = limit;
  deadline_ = Clock::now() + limit;
}

void Watchdog::rest() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::guard() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds{100}, [this] { return end_; })) {
    if (!deadline_ || Clock::now() < *deadline_) { continue; }
    const std::chrono::duration<double> seconds = limit_;
    MpiSession::abort(fmt::format("not ended after {:g} s: {}", seconds.count(), message_));
  }
}

}  // namespace athanor
