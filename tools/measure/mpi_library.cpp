#include "tools/measure/mpi_library.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/layout.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

bool reduces(const Collective& collective) { return Contract(collective).finished(); }

/// What is only moved is moved as whole numbers of its size.
MPI_Datatype type_of(DataType type) {
  switch (type) {
    case DataType::float32: return MPI_FLOAT;
    case DataType::float64: return MPI_DOUBLE;
    case DataType::float16:
    case DataType::bfloat16: return MPI_INT16_T;
    case DataType::int8: return MPI_INT8_T;
    case DataType::int32: return MPI_INT32_T;
    case DataType::int64: return MPI_INT64_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op operation_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return MPI_SUM;
    case Reduction::product: return MPI_PROD;
    case Reduction::minimum: return MPI_MIN;
    case Reduction::maximum: return MPI_MAX;
    case Reduction::average: break;
  }
  return MPI_OP_NULL;
}

std::optional<std::string> refuses_arithmetic(const Trial& trial) {
  if (!reduces(trial.collective)) { return std::nullopt; }
  if (trial.type == DataType::float16 || trial.type == DataType::bfloat16) {
    return fmt::format("MPI reduces no {}", name(trial.type));
  }
  if (trial.reduction == Reduction::average) { return "MPI knows no average"; }
  return std::nullopt;
}

std::optional<std::string> refuses_place(const Collective& collective) {
  if (collective.kind == CollectiveKind::broadcast && !collective.in_place) {
    return "MPI_Bcast has one buffer: it is in place";
  }
  if (collective.kind == CollectiveKind::reduce_scatter && collective.in_place) {
    return "in place MPI_Reduce_scatter leaves each part at the beginning of the buffer, not where the part lies";
  }
  if (collective.in_place && !Contract(collective).in_place(0)) { return "it is not done in place"; }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> mpi_library_refuses(const Trial& trial) {
  if (const auto reason = refuses_arithmetic(trial)) { return reason; }
  if (const auto reason = refuses_place(trial.collective)) { return reason; }
  if (trial.collective.kind == CollectiveKind::send_receive && trial.collective.ranks < 2) {
    return "MPI_Send needs another rank to send to";
  }
  const Contract contract(trial.collective);
  for (std::uint32_t rank = 0; rank < trial.collective.ranks; ++rank) {
    const Elements most = std::max(contract.input(rank), contract.output(rank));
    if (most.count() > std::numeric_limits<int>::max()) {
      return fmt::format("a buffer of {} elements: MPI counts to {}", most.count(), std::numeric_limits<int>::max());
    }
  }
  return std::nullopt;
}

MpiLibraryCollective::MpiLibraryCollective(const Communicator& communicator, const Trial& trial,
                                           const RankBuffers& buffers)
    : communicator_(communicator),
      collective_(trial.collective),
      buffers_(buffers),
      type_(type_of(trial.type)),
      operation_(operation_of(trial.reduction)),
      count_(static_cast<int>(collective_.count.count())),
      root_(static_cast<int>(collective_.root)),
      root_here_(communicator.rank() == collective_.root),
      even_(collective_.count % Elements{collective_.ranks} == Elements::zero()) {
  require(collective_.ranks == communicator.size(), "{} ranks in {} processes", collective_.ranks, communicator.size());
  make_parts();
  make_exchange();
}

void MpiLibraryCollective::make_parts() {
  for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
    const ElementRange part = block(collective_.count, collective_.ranks, rank);
    parts_.counts.push_back(static_cast<int>(part.count.count()));
    parts_.offsets.push_back(static_cast<int>(part.first.count()));
  }
}

void MpiLibraryCollective::make_exchange() {
  const std::uint32_t own = communicator_.rank();
  if (collective_.kind == CollectiveKind::all_to_all) {
    outgoing_ = parts_;
    const int count = parts_.counts[own];
    for (int rank = 0; rank < static_cast<int>(collective_.ranks); ++rank) {
      incoming_.counts.push_back(count);
      incoming_.offsets.push_back(count * rank);
    }
  }
  if (collective_.kind != CollectiveKind::all_to_all_v) { return; }
  const AllToAllVSizes& sizes = *collective_.sizes;
  for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
    outgoing_.counts.push_back(static_cast<int>(sizes.size(own, rank).count()));
    outgoing_.offsets.push_back(static_cast<int>(sizes.input_offset(own, rank).count()));
    incoming_.counts.push_back(static_cast<int>(sizes.size(rank, own).count()));
    incoming_.offsets.push_back(static_cast<int>(sizes.output_offset(rank, own).count()));
  }
}

void MpiLibraryCollective::run() const {
  MPI_Comm world = communicator_.get();
  const void* const from = collective_.in_place ? MPI_IN_PLACE : buffers_.input.data();
  void* const to = buffers_.output.data();
  switch (collective_.kind) {
    case CollectiveKind::all_reduce:
      return check_mpi(MPI_Allreduce(from, to, count_, type_, operation_, world), "MPI_Allreduce");
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce: return check_mpi(reduce(), "MPI_Reduce");
    case CollectiveKind::all_gather:
    case CollectiveKind::gather: return check_mpi(gather(), "MPI_Gather");
    case CollectiveKind::broadcast: return check_mpi(MPI_Bcast(to, count_, type_, root_, world), "MPI_Bcast");
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v: return check_mpi(exchange(), "MPI_Alltoall");
    case CollectiveKind::scatter: return check_mpi(scatter(), "MPI_Scatter");
    case CollectiveKind::barrier: return check_mpi(MPI_Barrier(world), "MPI_Barrier");
    case CollectiveKind::send_receive: return check_mpi(send_receive(), "MPI_Send");
  }
}

int MpiLibraryCollective::reduce() const {
  MPI_Comm world = communicator_.get();
  void* const to = buffers_.output.data();
  if (collective_.kind == CollectiveKind::reduce) {
    const bool in_place = collective_.in_place && root_here_;
    return MPI_Reduce(in_place ? MPI_IN_PLACE : buffers_.input.data(), to, count_, type_, operation_, root_, world);
  }
  const void* const from = buffers_.input.data();
  if (even_) { return MPI_Reduce_scatter_block(from, to, parts_.counts[0], type_, operation_, world); }
  return MPI_Reduce_scatter(from, to, parts_.counts.data(), type_, operation_, world);
}

int MpiLibraryCollective::gather() const {
  MPI_Comm world = communicator_.get();
  const int own = parts_.counts[communicator_.rank()];
  void* const to = buffers_.output.data();
  if (collective_.kind == CollectiveKind::all_gather) {
    const void* const from = collective_.in_place ? MPI_IN_PLACE : buffers_.input.data();
    if (even_) { return MPI_Allgather(from, own, type_, to, own, type_, world); }
    return MPI_Allgatherv(from, own, type_, to, parts_.counts.data(), parts_.offsets.data(), type_, world);
  }
  const void* const from = collective_.in_place && root_here_ ? MPI_IN_PLACE : buffers_.input.data();
  if (even_) { return MPI_Gather(from, own, type_, to, own, type_, root_, world); }
  return MPI_Gatherv(from, own, type_, to, parts_.counts.data(), parts_.offsets.data(), type_, root_, world);
}

int MpiLibraryCollective::scatter() const {
  MPI_Comm world = communicator_.get();
  const int own = parts_.counts[communicator_.rank()];
  const void* const from = buffers_.input.data();
  void* const to = collective_.in_place && root_here_ ? MPI_IN_PLACE : buffers_.output.data();
  if (even_) { return MPI_Scatter(from, own, type_, to, own, type_, root_, world); }
  return MPI_Scatterv(from, parts_.counts.data(), parts_.offsets.data(), type_, to, own, type_, root_, world);
}

int MpiLibraryCollective::exchange() const {
  MPI_Comm world = communicator_.get();
  const void* const from = buffers_.input.data();
  void* const to = buffers_.output.data();
  if (collective_.kind == CollectiveKind::all_to_all && even_) {
    return MPI_Alltoall(from, parts_.counts[0], type_, to, parts_.counts[0], type_, world);
  }
  return MPI_Alltoallv(from, outgoing_.counts.data(), outgoing_.offsets.data(), type_, to, incoming_.counts.data(),
                       incoming_.offsets.data(), type_, world);
}

int MpiLibraryCollective::send_receive() const {
  MPI_Comm world = communicator_.get();
  const int receiver = (root_ + 1) % static_cast<int>(collective_.ranks);
  if (root_here_) { return MPI_Send(buffers_.input.data(), count_, type_, receiver, 0, world); }
  if (static_cast<int>(communicator_.rank()) != receiver) { return MPI_SUCCESS; }
  return MPI_Recv(buffers_.output.data(), count_, type_, root_, 0, world, MPI_STATUS_IGNORE);
}

}  // namespace athanor
