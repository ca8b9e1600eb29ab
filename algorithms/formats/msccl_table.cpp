#include "algorithms/formats/msccl_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostProblems = 20;
/// Chunks in all buffers together, and chunks that all steps touch: the proof follows each of them.
constexpr std::uint64_t kMostCells = UINT64_C(1) << 24U;
constexpr std::uint64_t kMostTouched = UINT64_C(1) << 28U;

std::uint32_t whole(Elements elements) { return static_cast<std::uint32_t>(elements.count()); }

class Builder {
 public:
  Builder(const MscclDocument& document, bool in_place)
      : document_(document),
        in_place_(in_place),
        ranks_(static_cast<std::uint32_t>(document.gpus.size())),
        contract_({document.kind, ranks_, Elements{document.chunks}, document.root, in_place}) {}

  Table build() {
    check_head();
    check_size();
    throw_if_any();
    join();
    for (rank_ = 0; rank_ < ranks_; ++rank_) { add(document_.gpus[rank_]); }
    table_.first_lane.push_back(static_cast<std::uint32_t>(table_.lanes.size()));
    throw_if_any();
    number_programs(table_);
    return std::move(table_);
  }

 private:
  /// Of a connection: sender, receiver, channel.
  using Wire = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct End {
    std::uint32_t lane = 0;
    const MscclBlock* block = nullptr;
  };
  using Ends = std::map<Wire, End>;

  void problem(const SourceLocation& place, std::string code, std::string message, std::string hint = "") {
    if (problems_.size() < kMostProblems) {
      problems_.push_back({std::move(code), std::move(message), place, std::move(hint)});
    }
  }

  void throw_if_any() const {
    if (!problems_.empty()) { throw ScenarioError(problems_); }
  }

  void check_head() {
    if (has_parts(document_.kind) && document_.chunks % ranks_ != 0) {
      problem(document_.place, "wrong-count",
              fmt::format("<algo>: {} gpus do not divide nchunksperloop=\"{}\", as {} needs", ranks_, document_.chunks,
                          name(document_.kind)));
    }
    if (document_.root >= ranks_) {
      problem(document_.place, "no-such-root",
              fmt::format("<algo>: root {} is none of {} gpus", document_.root, ranks_));
    }
    if (in_place_ && !contract_.in_place(0)) {
      problem(document_.place, "wrong-value", fmt::format("<algo>: {} cannot be done in place", name(document_.kind)),
              "write inplace=\"0\"");
    }
  }

  void check_size() {
    std::uint64_t cells = 0;
    std::uint64_t touched = 0;
    for (const MscclGpu& gpu : document_.gpus) {
      cells += 2 * std::uint64_t{document_.chunks} + gpu.scratch;
      for (const MscclBlock& block : gpu.blocks) {
        for (const MscclStep& step : block.steps) { touched += step.count; }
      }
      if (cells <= kMostCells && touched <= kMostTouched) { continue; }
      const bool buffers = cells > kMostCells;
      problem(gpu.place, "too-large",
              fmt::format("<gpu>: up to here {} have more than {} chunks together", buffers ? "buffers" : "steps",
                          buffers ? kMostCells : kMostTouched),
              "are nchunksperloop, s_chunks and cnt right?");
      return;
    }
  }

  static bool uses(const MscclBlock& block, bool (*direction)(MscclOperation)) {
    return std::any_of(block.steps.begin(), block.steps.end(),
                       [&](const MscclStep& step) { return direction(step.operation); });
  }

  /// The two ends of every connection that is used at one of them.
  void join() {
    for (std::uint32_t gpu = 0; gpu < ranks_; ++gpu) {
      const std::vector<MscclBlock>& blocks = document_.gpus[gpu].blocks;
      for (std::uint32_t lane = 0; lane < blocks.size(); ++lane) {
        const MscclBlock& block = blocks[lane];
        if (uses(block, &sends)) { enter(senders_, {gpu, *block.send, block.channel}, {lane, &block}, "send to"); }
        if (uses(block, &receives)) {
          enter(receivers_, {*block.receive, gpu, block.channel}, {lane, &block}, "receive from");
        }
      }
    }
    for (const auto& [wire, end] : senders_) { find_other_end(wire, end, receivers_, "receives", std::get<1>(wire)); }
    for (const auto& [wire, end] : receivers_) { find_other_end(wire, end, senders_, "sends", std::get<0>(wire)); }
  }

  void enter(Ends& ends, const Wire& wire, const End& end, std::string_view what) {
    if (ends.emplace(wire, end).second) { return; }
    const bool sending = &ends == &senders_;
    problem(end.block->place, "joined-twice",
            fmt::format("<tb>: thread blocks {} and {} both {} gpu {} on channel {}", ends.at(wire).lane, end.lane,
                        what, sending ? std::get<1>(wire) : std::get<0>(wire), std::get<2>(wire)),
            "one of them needs another channel");
  }

  void find_other_end(const Wire& wire, const End& end, const Ends& others, std::string_view does, std::uint32_t gpu) {
    if (others.contains(wire)) { return; }
    const std::uint32_t here = gpu == std::get<0>(wire) ? std::get<1>(wire) : std::get<0>(wire);
    problem(end.block->place, "no-other-end",
            fmt::format("<tb>: no thread block of gpu {} {} what gpu {} {} on channel {}", gpu, does, here,
                        does == "sends" ? "expects" : "sends to it", std::get<2>(wire)));
  }

  void add(const MscclGpu& gpu) {
    const auto input = contract_.input(rank_);
    const auto output = contract_.output(rank_);
    TableMemory memory{whole(input), whole(output), gpu.scratch, {}};
    if (in_place_ && memory.input > 0 && memory.output > 0) { memory.in_place = contract_.in_place(rank_)->count(); }
    table_.memories.push_back(memory);
    table_.first_lane.push_back(static_cast<std::uint32_t>(table_.lanes.size()));
    for (const MscclBlock& block : gpu.blocks) { add(block); }
  }

  void add(const MscclBlock& block) {
    TableLane lane{static_cast<std::uint32_t>(table_.steps.size()),
                   static_cast<std::uint32_t>(block.steps.size()),
                   static_cast<std::uint32_t>(table_.sources.size()),
                   0,
                   static_cast<std::uint32_t>(table_.targets.size()),
                   0,
                   {}};
    if (uses(block, &receives)) {
      const auto found = senders_.find({*block.receive, rank_, block.channel});
      const std::uint32_t other = found == senders_.end() ? 0 : found->second.lane;
      table_.sources.push_back({AgentId{*block.receive}, LaneId{other}, PortId{0}});
      lane.in_ports = 1;
    }
    if (uses(block, &sends)) {
      const auto found = receivers_.find({rank_, *block.send, block.channel});
      const std::uint32_t other = found == receivers_.end() ? 0 : found->second.lane;
      table_.targets.push_back({AgentId{*block.send}, LaneId{other}, PortId{0}});
      lane.out_ports = 1;
    }
    table_.lanes.push_back(lane);
    for (const MscclStep& step : block.steps) { table_.steps.push_back(table_step(step)); }
  }

  TableStep table_step(const MscclStep& step) {
    TableStep result;
    result.chunks = step.count;
    if (reads_source(step.operation)) { result.operands[0] = cells(step, step.source, "srcoff"); }
    if (writes_destination(step.operation)) { result.store = cells(step, step.destination, "dstoff"); }
    if (step.operation == MscclOperation::reduce) {
      result.operands[1] = result.operands[0];
      result.operands[0] = result.store;
    }
    if (receives(step.operation)) { result.receives = {0, 1}; }
    if (sends(step.operation)) { result.sends = {0, 1}; }
    if (step.dependency) { result.wait = TableWait{step.dependency->block, step.dependency->step}; }
    return result;
  }

  TableCells cells(const MscclStep& step, const MscclCells& cells, std::string_view key) {
    const TableMemory& memory = table_.memories.back();
    if (memory.in_place && cells.buffer == Buffer::input) {
      const std::int64_t shared = cells.first + *memory.in_place;
      if (shared >= 0 && shared + step.count <= memory.output) {
        return {static_cast<std::uint32_t>(shared), Buffer::output};
      }
    }
    const std::uint32_t size = cells.buffer == Buffer::input    ? memory.input
                               : cells.buffer == Buffer::output ? memory.output
                                                                : memory.scratch;
    if (std::uint64_t{cells.first} + step.count > size) {
      const char letter = "ios"[static_cast<std::size_t>(cells.buffer)];
      problem(step.place, "outside-buffer",
              fmt::format("<step>: {}=\"{}\" and {} chunk{} reach beyond buffer {}, which has {} on gpu {}", key,
                          cells.first, step.count, step.count == 1 ? "" : "s", letter, size, rank_));
    }
    return {cells.first, cells.buffer};
  }

  const MscclDocument& document_;
  bool in_place_;
  std::uint32_t ranks_;
  Contract contract_;
  std::uint32_t rank_ = 0;
  Ends senders_;
  Ends receivers_;
  Table table_;
  std::vector<Problem> problems_;
};

}  // namespace

Table table_of(const MscclDocument& document, bool in_place) { return Builder(document, in_place).build(); }

}  // namespace athanor
