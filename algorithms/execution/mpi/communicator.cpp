#include "algorithms/execution/mpi/communicator.hpp"

#include <string>
#include <thread>

#include <fmt/core.h>
#include <sched.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

std::uint32_t rank_in(MPI_Comm communicator) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return static_cast<std::uint32_t>(rank);
}

std::uint32_t size_of(MPI_Comm communicator) {
  int size = 0;
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  return static_cast<std::uint32_t>(size);
}

[[noreturn]] void give_up(std::chrono::nanoseconds limit) {
  const std::chrono::duration<double> seconds = limit;
  throw SimulationError("time-limit",
                        fmt::format("not all MPI processes have come within {:g} s: one has stopped or died, or does "
                                    "something else",
                                    seconds.count()));
}

bool done(MPI_Request& request) {
  int flag = 0;
  check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

void await(const Communicator& communicator, MPI_Request& request, std::chrono::nanoseconds limit) {
  Backoff backoff(communicator.size_of_node(), limit);
  while (!done(request)) {
    if (!backoff.goes_on(false)) { give_up(limit); }
  }
}

MPI_Request begin_barrier(const Communicator& communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(communicator.get(), &request), "MPI_Ibarrier");
  return request;
}

int count_of(std::size_t size) {
  constexpr std::size_t kMost = 1'000'000'000;
  require(size <= kMost, "{} values to agree on", size);
  return static_cast<int>(size);
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) { return; }
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) { length = 0; }
  throw SimulationError("mpi", fmt::format("{}: {}", call, text.substr(0, static_cast<std::size_t>(length))));
}

Communicator::Communicator(MPI_Comm parent) {
  check_mpi(MPI_Comm_dup(parent, &communicator_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  rank_ = rank_in(communicator_);
  size_ = athanor::size_of(communicator_);
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  size_of_node_ = athanor::size_of(node);
  first_of_node_ = rank_in(node) == 0;
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
}

Communicator::~Communicator() { MPI_Comm_free(&communicator_); }

std::int64_t Communicator::largest_tag() {
  constexpr std::int64_t kPromised = 32767;  // by the standard
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  return found != 0 ? *static_cast<const int*>(value) : kPromised;
}

/// Spins as long as a message takes within a machine, many times over, where every process has a processor.
Backoff::Backoff(std::uint32_t processes, std::chrono::nanoseconds limit)
    : spins_(processes <= std::thread::hardware_concurrency() ? 1000 : 10),
      idle_since_(Clock::now()),
      looked_(idle_since_),
      end_(idle_since_ + limit) {}

bool Backoff::goes_on(bool something) {
  constexpr std::uint32_t kLooksPerClock = 64;  // reading the clock costs about as much as a look
  empty_looks_ = something ? 0 : empty_looks_ + 1;
  if (empty_looks_ > spins_) { sched_yield(); }
  if (++looks_ % kLooksPerClock != 0) { return true; }
  looked_ = Clock::now();
  if (empty_looks_ < kLooksPerClock) { idle_since_ = looked_; }
  return looked_ < end_;
}

void barrier(const Communicator& communicator, std::chrono::nanoseconds limit) {
  MPI_Request request = begin_barrier(communicator);
  await(communicator, request, limit);
}

void sleeping_barrier(const Communicator& communicator, std::chrono::nanoseconds limit) {
  constexpr std::chrono::milliseconds kNap{2};
  MPI_Request request = begin_barrier(communicator);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done(request)) {
    if (std::chrono::steady_clock::now() >= end) { give_up(limit); }
    std::this_thread::sleep_for(kNap);
  }
}

void reduce_to_largest(const Communicator& communicator, std::span<std::int64_t> values,
                       std::chrono::nanoseconds limit) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values.data(), count_of(values.size()), MPI_INT64_T, MPI_MAX,
                           communicator.get(), &request),
            "MPI_Iallreduce");
  await(communicator, request, limit);
}

void broadcast(const Communicator& communicator, std::uint32_t root, std::span<std::byte> bytes,
               std::chrono::nanoseconds limit) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Ibcast(bytes.data(), count_of(bytes.size()), MPI_BYTE, static_cast<int>(root), communicator.get(), &request),
      "MPI_Ibcast");
  await(communicator, request, limit);
}

}  // namespace athanor
