#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/proof/memory_map.hpp"
#include "algorithms/proof/replay.hpp"

namespace athanor {

/// Executes a schedule on values that stand for what they are made of. `Value` is copyable and has
///   static Value input(rank, element), static Value rubbish(agent, address): what a cell holds before;
///   void add(const Value&); void finish().
template <class Value>
class Symbolic : public Observer {
 public:
  Symbolic(const Schedule& schedule, const Wiring& wiring) : wiring_(wiring), messages_(wiring.receivers.size()) {
    const AgentCount agent_count = schedule.agent_count();
    for (std::uint32_t agent = 0; agent < agent_count.agents; ++agent) {
      const Memory memory = schedule.memory(AgentId{agent});
      maps_.emplace_back(memory);
      fill(agent, agent < agent_count.ranks ? memory.input.count() : 0);
    }
  }

  const Value& output(AgentId rank, Elements element) const {
    const std::int64_t address = maps_[rank.value].base(Buffer::output) + element.count();
    return cells_[rank.value][static_cast<std::size_t>(address)];
  }
  const MemoryMap& map(AgentId agent) const { return maps_[agent.value]; }

  void on_primitive(const Execution& execution) override {
    const Primitive& primitive = execution.primitive;
    if (primitive.count == Elements::zero()) { return; }
    const std::uint32_t agent = wiring_.lanes[execution.lane].agent.value;
    filled_ = false;
    for (const auto& operand : primitive.operands) {
      if (operand) { take_cells(agent, *operand, primitive.count); }
    }
    for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
      take_message(messages_[execution.first_received + i], static_cast<std::size_t>(primitive.count.count()));
    }
    if (!filled_) { value_.assign(static_cast<std::size_t>(primitive.count.count()), Value{}); }
    if (primitive.finish) {
      for (Value& value : value_) { value.finish(); }
    }
    if (primitive.store) { store(agent, *primitive.store, primitive.count); }
    for (const std::uint32_t sent : execution.sent) {
      messages_[sent].values.insert(messages_[sent].values.end(), value_.begin(), value_.end());
    }
  }

 protected:
  const Wiring& wiring() const { return wiring_; }
  /// Of the latest primitive, element by element.
  const std::vector<Value>& value() const { return value_; }

 private:
  /// Values on their way over one connection; those before `read` have been received.
  struct Messages {
    std::vector<Value> values;
    std::size_t read = 0;
  };

  void fill(std::uint32_t agent, std::int64_t inputs) {
    const MemoryMap& map = maps_[agent];
    std::vector<Value> cells;
    cells.reserve(static_cast<std::size_t>(map.size()));
    const std::int64_t base = map.base(Buffer::input);
    for (std::int64_t address = 0; address < map.size(); ++address) {
      const bool input = address >= base && address < base + inputs;
      cells.push_back(input ? Value::input(agent, address - base) : Value::rubbish(agent, address));
    }
    cells_.push_back(std::move(cells));
  }

  template <class Iterator>
  void take(Iterator from, std::size_t count, std::size_t offset) {
    if (!filled_) {
      value_.insert(value_.end(), from, from + static_cast<std::ptrdiff_t>(count));
      return;
    }
    for (std::size_t k = 0; k < count; ++k, ++from) { value_[offset + k].add(*from); }
  }

  void take_cells(std::uint32_t agent, const Cells& cells, Elements count) {
    std::size_t offset = 0;
    if (!filled_) { value_.clear(); }
    maps_[agent].each_run(cells, count, [&](std::int64_t address, std::int64_t length) {
      take(cells_[agent].begin() + address, static_cast<std::size_t>(length), offset);
      offset += static_cast<std::size_t>(length);
    });
    filled_ = true;
  }

  void take_message(Messages& messages, std::size_t count) {
    if (!filled_) { value_.clear(); }
    take(messages.values.begin() + static_cast<std::ptrdiff_t>(messages.read), count, 0);
    filled_ = true;
    messages.read += count;
    if (2 * messages.read >= messages.values.size()) {
      const auto end = messages.values.begin() + static_cast<std::ptrdiff_t>(messages.read);
      messages.values.erase(messages.values.begin(), end);
      messages.read = 0;
    }
  }

  void store(std::uint32_t agent, const Cells& cells, Elements count) {
    auto from = value_.begin();
    maps_[agent].each_run(cells, count, [&](std::int64_t address, std::int64_t length) {
      std::copy(from, from + length, cells_[agent].begin() + address);
      from += length;
    });
  }

  const Wiring& wiring_;
  std::vector<MemoryMap> maps_;
  std::vector<std::vector<Value>> cells_;  ///< of each agent, by address
  std::vector<Messages> messages_;         ///< of each connection
  std::vector<Value> value_;
  bool filled_ = false;
};

}  // namespace athanor
