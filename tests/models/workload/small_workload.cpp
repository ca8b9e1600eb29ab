#include "tests/models/workload/small_workload.hpp"

#include <deque>

namespace athanor::testing {

namespace {

std::shared_ptr<const EndpointGroups> groups(std::vector<std::uint32_t> of) {
  return std::make_shared<const EndpointGroups>(EndpointGroups{std::move(of)});
}

}  // namespace

std::uint32_t SmallWorkload::worker() {
  const auto number = static_cast<std::uint32_t>(workload_.workers.size());
  Workload::Worker& worker = workload_.workers.emplace_back();
  worker.name = "worker " + std::to_string(number);
  worker.streams = {{"compute"}, {"communication"}};
  return number;
}

std::uint32_t SmallWorkload::communicator(std::vector<std::uint32_t> workers, Parallelism use) {
  const auto number = static_cast<std::uint32_t>(workload_.communicators.size());
  workload_.communicators.push_back({"communicator " + std::to_string(number), use, workers, groups(workers)});
  return number;
}

std::uint32_t SmallWorkload::channel(std::uint32_t from, std::uint32_t to, bool eager) {
  const auto number = static_cast<std::uint32_t>(workload_.channels.size());
  workload_.channels.push_back(
      {"channel " + std::to_string(number), Parallelism::pipeline, from, to, groups({from, to}), eager});
  return number;
}

std::uint32_t SmallWorkload::add(std::uint32_t worker, Workload::Operation operation,
                                 const std::vector<std::uint32_t>& after) {
  Workload::Worker& own = workload_.workers[worker];
  operation.first_dependency = static_cast<std::uint32_t>(own.dependencies.size());
  operation.dependencies = static_cast<std::uint32_t>(after.size());
  own.dependencies.insert(own.dependencies.end(), after.begin(), after.end());
  own.operations.push_back(operation);
  return static_cast<std::uint32_t>(own.operations.size() - 1);
}

std::uint32_t SmallWorkload::compute(std::uint32_t worker, Time time, std::vector<std::uint32_t> after) {
  Workload::Operation operation;
  operation.kind = Workload::Kind::compute;
  operation.time = time;
  return add(worker, operation, after);
}

std::uint32_t SmallWorkload::call(std::uint32_t worker, std::uint32_t communicator, Bytes size,
                                  std::vector<std::uint32_t> after) {
  Workload::Operation operation;
  operation.kind = Workload::Kind::call;
  operation.stream = 1;
  operation.subject = static_cast<std::uint32_t>(workload_.calls.size());
  workload_.calls.push_back({.communicator = communicator, .size = size});
  return add(worker, operation, after);
}

std::uint32_t SmallWorkload::send(std::uint32_t worker, std::uint32_t channel, Bytes size,
                                  std::vector<std::uint32_t> after) {
  Workload::Operation operation;
  operation.kind = Workload::Kind::send;
  operation.stream = 1;
  operation.subject = channel;
  operation.size = size;
  return add(worker, operation, after);
}

std::uint32_t SmallWorkload::receive(std::uint32_t worker, std::uint32_t channel, Bytes size,
                                     std::vector<std::uint32_t> after) {
  const std::uint32_t number = send(worker, channel, size, std::move(after));
  workload_.workers[worker].operations[number].kind = Workload::Kind::receive;
  return number;
}

const WorkloadEstimates& SmallWorkload::estimates(bool share_link) {
  all_.clear();
  estimates_ = {};
  const auto shares = std::make_shared<const std::vector<LinkShare>>(share_link ? std::vector<LinkShare>{{0, 1}}
                                                                                : std::vector<LinkShare>{});
  const auto add_price = [&](Bytes size) {
    all_.push_back({.time = Time{size.count() * 1000},
                    .latency = Time::zero(),
                    .size = size,
                    .algorithm = "",
                    .protocol = "",
                    .shares = shares});
    estimates_.estimates.push_back(&all_.back());
    return static_cast<std::uint32_t>(estimates_.estimates.size() - 1);
  };
  for (const Workload::Call& call : workload_.calls) { estimates_.of_call.push_back(add_price(call.size)); }
  for (const Workload::Worker& worker : workload_.workers) {
    for (const Workload::Operation& operation : worker.operations) {
      if (operation.kind != Workload::Kind::send) { continue; }
      estimates_.of_message.try_emplace({operation.subject, operation.size}, add_price(operation.size));
    }
  }
  return estimates_;
}

WorkloadResult SmallWorkload::run(const WorkloadOptions& options, bool share_link) {
  return run_workload(workload_, estimates(share_link), options);
}

}  // namespace athanor::testing
