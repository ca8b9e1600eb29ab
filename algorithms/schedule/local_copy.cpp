#include "algorithms/schedule/local_copy.hpp"

#include "algorithms/schedule/layout.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// One primitive. In place it still finishes; otherwise there is nothing to store.
class LocalCopy : public Schedule {
 public:
  explicit LocalCopy(const Collective& collective) : collective_(collective) {
    require(collective.ranks == 1, "{} ranks cannot be served by a local copy", collective.ranks);
  }

  AgentCount agent_count() const override { return {1, 1}; }
  std::uint32_t lanes(AgentId) const override { return 1; }
  Lane lane(AgentId, LaneId) const override { return {1, 1, 0, 0, ProgramId{0}}; }
  Memory memory(AgentId) const override {
    return {collective_.count, collective_.count, Elements::zero(),
            collective_.in_place ? std::optional<std::int64_t>{0} : std::nullopt};
  }
  Endpoint target(AgentId, LaneId, PortId port) const override { return no_port(port); }
  Endpoint source(AgentId, LaneId, PortId port) const override { return no_port(port); }

  Primitive at(AgentId, LaneId, std::uint64_t, std::uint32_t) const override {
    Primitive primitive;
    primitive.count = collective_.count;
    primitive.operands[0] = contiguous(Buffer::input, Elements::zero());
    primitive.finish = reduces(collective_.kind);
    if (primitive.finish || !collective_.in_place) { primitive.store = contiguous(Buffer::output, Elements::zero()); }
    return primitive;
  }

  Elements message_limit() const override { return Elements::zero(); }
  Elements shift(Buffer) const override { return Elements::zero(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  static Endpoint no_port(PortId port) {
    require(false, "a local copy has no port {}", port.value);
    return {};
  }

  Collective collective_;
};

}  // namespace

std::unique_ptr<const Schedule> local_copy(const Collective& collective) {
  return std::make_unique<LocalCopy>(collective);
}

}  // namespace athanor
