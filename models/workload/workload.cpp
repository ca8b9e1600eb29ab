#include "models/workload/workload.hpp"

#include <tuple>

#include "models/experts/exchange.hpp"
#include "sim/check.hpp"

namespace athanor {

std::string_view name(Parallelism parallelism) {
  switch (parallelism) {
    case Parallelism::tensor: return "TP";
    case Parallelism::pipeline: return "PP";
    case Parallelism::data: return "DP";
    case Parallelism::expert: return "EP";
    case Parallelism::context: return "CP";
    case Parallelism::embedding: return "embedding";
    case Parallelism::other: return "other";
  }
  return "";
}

bool Workload::Call::operator==(const Call& other) const {
  const auto told = [](const Call& call) {
    return std::tie(call.communicator, call.kind, call.size, call.type, call.root, call.imbalance);
  };
  if (told(*this) != told(other) || (exchange == nullptr) != (other.exchange == nullptr)) { return false; }
  return exchange == other.exchange || *exchange == *other.exchange;
}

namespace {

void check(const Workload& workload, const Workload::Worker& worker) {
  const std::size_t count = worker.operations.size();
  for (const Workload::Operation& operation : worker.operations) {
    require(operation.stream < worker.streams.size(), "{}: no stream {}", worker.name, operation.stream);
    require(operation.label < workload.labels.size(), "{}: no label {}", worker.name, operation.label);
    require(operation.time >= Time::zero() && operation.size >= Bytes::zero(), "{}: negative work", worker.name);
    require(operation.first_dependency + std::size_t{operation.dependencies} <= worker.dependencies.size(),
            "{}: dependencies beyond their list", worker.name);
    const bool is_call = operation.kind == Workload::Kind::call;
    const bool is_message = operation.kind == Workload::Kind::send || operation.kind == Workload::Kind::receive;
    require(!is_call || operation.subject < workload.calls.size(), "{}: no call {}", worker.name, operation.subject);
    require(!is_message || operation.subject < workload.channels.size(), "{}: no channel {}", worker.name,
            operation.subject);
  }
  for (const std::uint32_t on : worker.dependencies) {
    require(on < count, "{}: depends on operation {} of {}", worker.name, on, count);
  }
}

}  // namespace

void check(const Workload& workload) {
  for (const Workload::Worker& worker : workload.workers) { check(workload, worker); }
  for (const Workload::Call& call : workload.calls) {
    require(call.communicator < workload.communicators.size(), "no communicator {}", call.communicator);
  }
  for (const Workload::Communicator& communicator : workload.communicators) {
    require(!communicator.workers.empty() && communicator.groups && !communicator.groups->empty(),
            "{} has nobody in it", communicator.name);
    for (const std::uint32_t worker : communicator.workers) {
      require(worker < workload.workers.size(), "{}: no worker {}", communicator.name, worker);
    }
  }
  for (const Workload::Channel& channel : workload.channels) {
    require(channel.from < workload.workers.size() && channel.to < workload.workers.size() && channel.pairs,
            "{}: an end that does not exist", channel.name);
  }
}

}  // namespace athanor
