#include "algorithms/execution/mpi/quantized_over_mpi.hpp"

#include "algorithms/execution/mpi/mpi_executor.hpp"

namespace athanor {

namespace {

void carry_out(const Communicator& communicator, const Schedule& schedule, const UserMemory& memory) {
  MpiExecution(communicator, schedule, {.type = DataType::int8, .buffers = memory.buffers(), .slots = {}}).run();
}

}  // namespace

void quantized_all_reduce(const Communicator& communicator, QuantizedRank& rank, std::span<const float> input,
                          std::span<float> output) {
  const QuantizedExchange exchange = quantized_exchange(communicator.size(), rank.part_bytes());
  const AgentId self{communicator.rank()};
  const UserMemory parts(exchange.to_owners->memory(self), DataType::int8);
  const UserMemory sums(exchange.to_all->memory(self), DataType::int8);
  rank.begin(input, parts.buffers().input);
  carry_out(communicator, *exchange.to_owners, parts);
  rank.add_up(parts.buffers().output, sums.buffers().input);
  carry_out(communicator, *exchange.to_all, sums);
  rank.end(sums.buffers().output, output);
}

}  // namespace athanor
