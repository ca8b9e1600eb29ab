#include "models/training/step/stage_writer.hpp"

#include <algorithm>
#include <utility>

namespace athanor {

StageWriter::StageWriter(Workload& workload, std::uint32_t worker) : workload_(workload), worker_(worker) {
  stream("compute");
}

std::uint16_t StageWriter::stream(const std::string& name) {
  std::vector<Workload::Stream>& streams = workload_.workers[worker_].streams;
  const auto is = [&](const Workload::Stream& each) { return each.name == name; };
  const auto found = std::find_if(streams.begin(), streams.end(), is);
  const auto number = static_cast<std::uint16_t>(found - streams.begin());
  if (found == streams.end()) { streams.push_back({name, true, false}); }
  return number;
}

std::uint32_t StageWriter::label(const std::string& text) {
  std::vector<std::string>& labels = workload_.labels;
  const auto found = std::find(labels.begin(), labels.end(), text);
  const auto number = static_cast<std::uint32_t>(found - labels.begin());
  if (found == labels.end()) { labels.push_back(text); }
  return number;
}

StageWriter::Number StageWriter::add(Workload::Operation operation, const Numbers& after) {
  Workload::Worker& own = workload_.workers[worker_];
  operation.first_dependency = static_cast<std::uint32_t>(own.dependencies.size());
  operation.dependencies = static_cast<std::uint32_t>(after.size());
  own.dependencies.insert(own.dependencies.end(), after.begin(), after.end());
  own.operations.push_back(operation);
  return static_cast<Number>(own.operations.size() - 1);
}

StageWriter::Number StageWriter::compute(const std::string& text, Time time, const Numbers& after) {
  Workload::Operation operation;
  operation.kind = Workload::Kind::compute;
  operation.label = label(text);
  operation.time = time;
  return add(operation, after);
}

StageWriter::Number StageWriter::compute_beside(std::uint16_t stream, const std::string& text, Time time,
                                                const Numbers& after) {
  const Number number = compute(text, time, after);
  workload_.workers[worker_].operations[number].stream = stream;
  return number;
}

StageWriter::Number StageWriter::beside(std::uint16_t stream, const std::string& text, Time time,
                                        const Numbers& after) {
  workload_.workers[worker_].streams[stream].host = true;
  return compute_beside(stream, text, time, after);
}

StageWriter::Number StageWriter::host(const std::string& text, Time time, const Numbers& after) {
  return beside(stream("host"), text, time, after);
}

StageWriter::Number StageWriter::copy(const std::string& name, Time time, const Numbers& after) {
  return beside(stream(name), "copy " + name, time, after);
}

StageWriter::Number StageWriter::call(std::uint16_t stream, const std::string& text, const Workload::Call& call,
                                      const Numbers& after) {
  Workload::Operation operation;
  operation.kind = Workload::Kind::call;
  operation.stream = stream;
  operation.label = label(text);
  const auto found = std::find(workload_.calls.begin(), workload_.calls.end(), call);
  operation.subject = static_cast<std::uint32_t>(found - workload_.calls.begin());
  if (found == workload_.calls.end()) { workload_.calls.push_back(call); }
  return add(operation, after);
}

StageWriter::Number StageWriter::send(std::uint16_t stream, std::uint32_t channel, Bytes size, const Numbers& after) {
  Workload::Operation operation;
  operation.kind = Workload::Kind::send;
  operation.stream = stream;
  operation.label = label(workload_.channels[channel].name);
  operation.subject = channel;
  operation.size = size;
  return add(operation, after);
}

StageWriter::Number StageWriter::receive(std::uint16_t stream, std::uint32_t channel, Bytes size,
                                         const Numbers& after) {
  const Number number = send(stream, channel, size, after);
  workload_.workers[worker_].operations[number].kind = Workload::Kind::receive;
  return number;
}

void Chain::add(StageWriter& writer, const WorkPiece& piece, const Communications& communications) {
  if (piece.computes) {
    last_ = {writer.compute(piece.label, piece.time, next_)};
    next_ = std::exchange(beside_, {});
    return;
  }
  const Communication& by = communications.at(piece.use);
  const Workload::Call call{.communicator = by.communicator,
                            .kind = piece.kind,
                            .size = piece.size,
                            .type = DataType::bfloat16,
                            .root = 0,
                            .imbalance = piece.imbalance,
                            .exchange = piece.exchange};
  const StageWriter::Number number = writer.call(by.stream, piece.label, call, ends());
  if (piece.beside) {
    beside_.push_back(number);
  } else {
    next_ = {number};
  }
}

StageWriter::Numbers Chain::ends() const {
  StageWriter::Numbers all = last_;
  all.insert(all.end(), next_.begin(), next_.end());
  return all;
}

}  // namespace athanor
