#include "algorithms/execution/mpi/synchronisation.hpp"

#include <thread>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

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
