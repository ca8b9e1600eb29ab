#include "algorithms/formats/htsim_export.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::size_t kBuffered = 1U << 16U;
constexpr std::int64_t kMostFlow = INT32_MAX;  // bytes of a flow, and flows
constexpr std::uint32_t kNoTrigger = 0;

[[noreturn]] void refuse(std::string reason, std::string hint = "") {
  throw ScenarioError(Problem{"no-htsim-form", std::move(reason), {}, std::move(hint)});
}

/// The sends of one primitive.
struct Burst {
  std::uint32_t trigger = kNoTrigger;  ///< that starts it; none: it starts at 0
  std::uint32_t awaited = 0;           ///< messages received and sends acknowledged before it
};

struct LanePlan {
  std::vector<Burst> bursts;
  /// For each in-port, by message: the trigger that its arrival counts for.
  std::vector<std::vector<std::uint32_t>> arrivals;
};

class Exporter {
 public:
  Exporter(const Schedule& schedule, std::int64_t element_bytes, const std::function<void(std::string_view)>& write)
      : schedule_(schedule), element_bytes_(element_bytes), write_(write) {
    require(element_bytes > 0, "elements of {} bytes", element_bytes);
  }

  HtsimSummary run() {
    const AgentCount agent_count = schedule_.agent_count();
    if (agent_count.agents > agent_count.ranks) {
      refuse(fmt::format("{} engines take part, and htsim knows hosts only", agent_count.agents - agent_count.ranks));
    }
    for (std::uint32_t rank = 0; rank < agent_count.ranks; ++rank) {
      plans_.emplace_back();
      for (std::uint32_t lane = 0; lane < schedule_.lanes(AgentId{rank}); ++lane) {
        plans_.back().push_back(plan(AgentId{rank}, LaneId{lane}));
      }
    }
    add("Nodes {}\nConnections {}\nTriggers {}\n", agent_count.ranks, summary_.flows, summary_.triggers);
    for (std::uint32_t rank = 0; rank < agent_count.ranks; ++rank) {
      for (std::uint32_t lane = 0; lane < plans_[rank].size(); ++lane) { write_flows(AgentId{rank}, LaneId{lane}); }
    }
    for (const auto& lanes : plans_) {
      for (const LanePlan& lane : lanes) { write_triggers(lane); }
    }
    write_({buffer_.data(), buffer_.size()});
    return summary_;
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Values>(values)...);
    if (buffer_.size() < kBuffered) { return; }
    write_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  template <class Visit>
  void each_primitive(AgentId agent, LaneId lane, Visit visit) const {
    const Lane shape = schedule_.lane(agent, lane);
    for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
      for (std::uint32_t step = 0; step < shape.steps; ++step) { visit(schedule_.at(agent, lane, loop, step)); }
    }
  }

  /// Arrivals count for the next burst of their lane, the first one that they may have a part in.
  LanePlan plan(AgentId agent, LaneId lane) {
    LanePlan result;
    result.arrivals.resize(schedule_.lane(agent, lane).in_ports);
    std::vector<std::uint32_t> waiting;  // in-ports of the arrivals since the last burst
    std::uint32_t sent = 0;
    each_primitive(agent, lane, [&](const Primitive& primitive) {
      if (primitive.wait && primitive.wait->ended > 0 && primitive.wait->lane != lane) {
        refuse("a lane waits for another lane, and a flow of htsim can start two others at most",
               "take an algorithm with one lane per channel, such as ring");
      }
      for (std::uint32_t i = 0; i < primitive.receives.count; ++i) { waiting.push_back(primitive.receives.first + i); }
      if (primitive.sends.count == 0) { return; }
      Burst burst;
      burst.awaited = static_cast<std::uint32_t>(waiting.size()) + sent;
      if (burst.awaited > 0) { burst.trigger = next_trigger(); }
      for (const std::uint32_t port : waiting) { result.arrivals[port].push_back(burst.trigger); }
      waiting.clear();
      result.bursts.push_back(burst);
      sent = primitive.sends.count;
      count_flows(primitive);
    });
    for (const std::uint32_t port : waiting) { result.arrivals[port].push_back(kNoTrigger); }
    return result;
  }

  std::uint32_t next_trigger() { return static_cast<std::uint32_t>(++summary_.triggers); }

  std::int64_t bytes(const Primitive& primitive) const { return (primitive.count * element_bytes_).count(); }

  void count_flows(const Primitive& primitive) {
    const std::int64_t size = bytes(primitive);
    if (size > kMostFlow) {
      refuse(fmt::format("a message has {} bytes, and htsim counts to 2^31", size), "cut the payload with --chunk");
    }
    summary_.flows += primitive.sends.count;
    summary_.bytes += static_cast<std::uint64_t>(size) * primitive.sends.count;
    summary_.empty += size == 0 ? primitive.sends.count : 0;
    if (summary_.flows > static_cast<std::uint64_t>(kMostFlow)) { refuse("there are more than 2^31 messages"); }
  }

  void write_flows(AgentId agent, LaneId lane) {
    const LanePlan& plan = plans_[agent.value][lane.value];
    std::vector<std::size_t> sent(schedule_.lane(agent, lane).out_ports, 0);
    std::size_t burst = 0;
    each_primitive(agent, lane, [&](const Primitive& primitive) {
      if (primitive.sends.count == 0) { return; }
      const std::uint32_t after = burst + 1 < plan.bursts.size() ? plan.bursts[burst + 1].trigger : kNoTrigger;
      for (std::uint32_t i = 0; i < primitive.sends.count; ++i) {
        const std::uint32_t port = primitive.sends.first + i;
        const Endpoint to = schedule_.target(agent, lane, PortId{port});
        const LanePlan& far = plans_[to.agent.value][to.lane.value];
        const std::uint32_t arrival = far.arrivals[to.port.value].at(sent[port]++);
        write_flow(agent, to.agent, std::max<std::int64_t>(1, bytes(primitive)), plan.bursts[burst], after, arrival);
      }
      ++burst;
    });
  }

  void write_flow(AgentId from, AgentId to, std::int64_t size, const Burst& burst, std::uint32_t after,
                  std::uint32_t arrival) {
    add("{}->{} id {}", from.value, to.value, ++flow_);
    if (burst.trigger == kNoTrigger) {
      add(" start 0");
    } else {
      add(" trigger {}", burst.trigger);
    }
    add(" size {}", size);
    if (after != kNoTrigger) { add(" send_done_trigger {}", after); }
    if (arrival != kNoTrigger) { add(" recv_done_trigger {}", arrival); }
    add("\n");
  }

  void write_triggers(const LanePlan& plan) {
    for (const Burst& burst : plan.bursts) {
      if (burst.awaited == 1) { add("trigger id {} oneshot\n", burst.trigger); }
      if (burst.awaited > 1) { add("trigger id {} barrier count {}\n", burst.trigger, burst.awaited); }
    }
  }

  const Schedule& schedule_;
  std::int64_t element_bytes_;
  const std::function<void(std::string_view)>& write_;
  std::string buffer_;
  HtsimSummary summary_;
  std::uint64_t flow_ = 0;
  std::vector<std::vector<LanePlan>> plans_;  // by rank and lane
};

}  // namespace

HtsimSummary export_htsim(const Schedule& schedule, std::int64_t element_bytes,
                          const std::function<void(std::string_view)>& write) {
  return Exporter(schedule, element_bytes, write).run();
}

}  // namespace athanor
