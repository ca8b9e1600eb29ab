#include "models/traffic/traffic_driver.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

TrafficDriver::TrafficDriver(Simulator& simulator, const TrafficMatrix& matrix)
    : simulator_(simulator),
      matrix_(matrix),
      self_(simulator.add(*this)),
      queues_(matrix.connections.size()),
      awaited_(matrix.triggers),
      started_by_(matrix.triggers.size()) {
  messages_.reserve(matrix.messages.size());
  next_.reserve(matrix.messages.size());
  origin_.reserve(matrix.messages.size());
}

void TrafficDriver::start(Network& network) {
  network_ = &network;
  if (matrix_.window) {
    delivered_.resize(matrix_.connections.size());
    simulator_.at(matrix_.window->begin, self_, kWindowBegins);
    simulator_.at(matrix_.window->end, self_, kWindowEnds);
  }
  for (std::uint32_t m = 0; m < matrix_.messages.size(); ++m) {
    const TrafficMatrix::Message& message = matrix_.messages[m];
    if (message.trigger == TrafficMatrix::kNoTrigger) {
      simulator_.at(message.start, self_, m);
    } else {
      started_by_[message.trigger].push_back(m);
    }
  }
}

std::uint32_t TrafficDriver::first_under_way() const {
  std::uint32_t first = kNone;
  for (const Queue& queue : queues_) { first = std::min(first, queue.first); }
  require(first != kNone, "no message is under way");
  return first;
}

TrafficDriver::Arrived TrafficDriver::arrived() const {
  Arrived bytes = delivered_;
  for (const ConnectionId connection : bytes.ids()) {
    const std::optional<Bytes> more = network_->arrived(connection);
    if (!more) { return {}; }
    bytes[connection] = bytes[connection] + *more;
  }
  return bytes;
}

std::optional<TrafficDriver::Arrived> TrafficDriver::arrived_within() const {
  if (before_window_.empty() || by_its_end_.empty()) { return std::nullopt; }
  Arrived within = by_its_end_;
  for (const ConnectionId connection : within.ids()) {
    within[connection] = within[connection] - before_window_[connection];
  }
  return within;
}

void TrafficDriver::on_event(std::uint64_t what) {
  if (what == kWindowBegins) {
    before_window_ = arrived();
    return;
  }
  if (what == kWindowEnds) {
    by_its_end_ = arrived();
    return;
  }
  const auto number = static_cast<std::uint32_t>(what);
  hand_over(number);
  if (matrix_.window) { hand_over(number); }
}

void TrafficDriver::hand_over(std::uint32_t message) {
  const TrafficMatrix::Message& what = matrix_.messages[message];
  const auto number = static_cast<std::uint32_t>(messages_.size());
  messages_.push_back({what.connection, what.size, simulator_.now(), {}, {}});
  next_.push_back(kNone);
  origin_.push_back(message);
  const ConnectionId connection{what.connection};
  Queue& queue = queues_[connection];
  (queue.first == kNone ? queue.first : next_[queue.last]) = number;
  queue.last = number;
  ++under_way_;
  network_->move(connection, what.size);
}

void TrafficDriver::delivered(ConnectionId connection) {
  Queue& queue = queues_[connection];
  require(queue.first != kNone, "connection {} delivers what it was not given", connection.value);
  const std::uint32_t message = origin_[queue.first];
  const std::uint32_t delivered_message = queue.first;
  messages_[delivered_message].end = simulator_.now();
  queue.first = next_[queue.first];
  --under_way_;
  if (matrix_.window) { delivered_[connection] = delivered_[connection] + messages_[delivered_message].size; }
  if (matrix_.window && simulator_.now() < matrix_.window->end) { return hand_over(message); }
  fire(message);
}

void TrafficDriver::fire(std::uint32_t number) {
  const TrafficMatrix::Message& message = matrix_.messages[number];
  for (std::uint32_t f = message.first_fired; f < message.first_fired + message.fired; ++f) {
    const std::uint32_t trigger = matrix_.fires[f];
    if (awaited_[trigger] == 0 || --awaited_[trigger] > 0) { continue; }
    for (const std::uint32_t started : started_by_[trigger]) {
      simulator_.at(simulator_.now() + matrix_.messages[started].start, self_, started);
    }
  }
}

}  // namespace athanor
