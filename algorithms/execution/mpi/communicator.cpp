#include "algorithms/execution/mpi/communicator.hpp"

#include <string>
#include <thread>

#include <fmt/core.h>
#include <sched.h>

#include "sim/error.hpp"

namespace athanor {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) { return; }
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) { length = 0; }
  throw SimulationError("mpi", fmt::format("{}: {}", call, text.substr(0, static_cast<std::size_t>(length))));
}

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

}  // namespace

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

}  // namespace athanor
