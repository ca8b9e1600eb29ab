#include "algorithms/formats/msccl_export.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "algorithms/formats/msccl_document.hpp"
#include "algorithms/formats/msccl_plan.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

bool same(const MscclCells& a, const MscclCells& b) { return a.buffer == b.buffer && a.first == b.first; }

/// A primitive, or one chunk of it, in chunks.
struct Part {
  std::uint32_t count = 0;
  std::vector<MscclCells> operands;
  std::optional<MscclCells> store;
};

/// Writes lanes one after the other. The steps of a lane keep its order: each depends on the one before wherever that
/// is in another thread block. That cannot deadlock where the primitive in one piece does not: it takes and gives the
/// same messages in the same order, each as soon as it can.
class Lowering {
 public:
  Lowering(const Schedule& schedule, const MscclPlan& plan, AgentId rank)
      : schedule_(schedule), plan_(plan), rank_(rank) {}

  MscclGpu lower() {
    gpu_.scratch = chunks(schedule_.memory(rank_).scratch);
    const std::uint32_t lanes = plan_.wiring.lanes_of(rank_);
    ends_.resize(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) { add_blocks(lane); }
    for (std::uint32_t lane = 0; lane < lanes; ++lane) { lower_lane(lane); }
    resolve();
    return std::move(gpu_);
  }

 private:
  struct Unresolved {
    MscclDependency at;
    std::uint32_t lane = 0;
    std::uint64_t ended = 0;
  };

  std::uint32_t chunks(Elements elements) const { return static_cast<std::uint32_t>(elements / plan_.chunk); }
  MscclCells cells(Buffer buffer, Elements first) const { return {buffer, chunks(first)}; }

  void add_blocks(std::uint32_t lane) {
    const WiredLane& wired = plan_.wiring.lanes[plan_.wiring.index(rank_, LaneId{lane})];
    for (const LanePlan::Block& block : plan_.lanes[plan_.wiring.index(rank_, LaneId{lane})].blocks) {
      MscclBlock result;
      result.channel = block.channel;
      if (block.out) { result.send = schedule_.target(rank_, wired.lane, PortId{*block.out}).agent.value; }
      if (block.in) { result.receive = schedule_.source(rank_, wired.lane, PortId{*block.in}).agent.value; }
      gpu_.blocks.push_back(std::move(result));
    }
  }

  void lower_lane(std::uint32_t lane) {
    const std::uint32_t index = plan_.wiring.index(rank_, LaneId{lane});
    const WiredLane& wired = plan_.wiring.lanes[index];
    lane_ = &plan_.lanes[index];
    last_.reset();
    spare_.reset();
    ends_[lane].push_back(std::nullopt);
    for (std::uint64_t i = 0; i < wired.primitives(); ++i) {
      const Primitive primitive =
          schedule_.at(rank_, LaneId{lane}, i / wired.shape.steps, static_cast<std::uint32_t>(i % wired.shape.steps));
      wait_.reset();
      if (primitive.wait && primitive.wait->lane.value != lane && primitive.wait->ended > 0) { wait_ = primitive.wait; }
      lower(primitive);
      ends_[lane].push_back(last_);
    }
  }

  void lower(const Primitive& primitive) {
    if (primitive.count == Elements::zero()) {
      if (wait_) { emit(last_ ? last_->block : lane_->first_block, MscclStep{}); }
      return;
    }
    const Elements whole = plan_.single_chunks ? plan_.chunk : primitive.count;
    for (Elements from; from < primitive.count; from += whole) {
      Part part{chunks(whole), {}, {}};
      for (const auto& operand : primitive.operands) {
        if (operand) { part.operands.push_back(cells(operand->buffer, operand->at(from))); }
      }
      if (primitive.store) { part.store = cells(primitive.store->buffer, primitive.store->at(from)); }
      lower(part, primitive.receives, primitive.sends);
    }
  }

  /// The forms that MSCCL knows, else step by step.
  void lower(const Part& part, const Ports& in, const Ports& out) {
    const bool one_block = in.count == 1 && out.count == 1 &&
                           lane_->block_of_in(in.first) == lane_->block_of_out(out.first) && part.operands.size() <= 1;
    if (one_block) {
      fused(part, in.first);
    } else {
      const MscclCells value = gather(part, in);
      for (std::uint32_t port = out.first; port < out.first + out.count; ++port) {
        emit(lane_->first_block + lane_->block_of_out(port), {MscclOperation::send, value, {}, part.count, {}, {}});
      }
    }
  }

  void fused(const Part& part, std::uint32_t port) {
    const std::uint32_t block = lane_->first_block + lane_->block_of_in(port);
    if (part.operands.empty()) {
      const MscclCells into = part.store ? *part.store : spare();
      emit(block, {MscclOperation::receive_copy_send, {}, into, part.count, {}, {}});
    } else if (part.store) {
      emit(block, {MscclOperation::receive_reduce_copy_send, part.operands[0], *part.store, part.count, {}, {}});
    } else {
      emit(block, {MscclOperation::receive_reduce_send, part.operands[0], {}, part.count, {}, {}});
    }
  }

  /// Where the reduced value lies once all is received: the store, a spare chunk, or the only operand itself.
  MscclCells gather(const Part& part, const Ports& in) {
    require(!part.operands.empty() || in.count > 0, "a primitive of {} chunks has no inputs", part.count);
    if (in.count == 0 && part.operands.size() == 1) { return copied(part); }
    const MscclCells into = part.store ? *part.store : spare();
    std::optional<MscclCells> value;
    if (!part.operands.empty()) { value = part.operands[0]; }
    if (part.operands.size() == 2) { value = add_operands(part, into); }
    for (std::uint32_t port = in.first; port < in.first + in.count; ++port) {
      const std::uint32_t block = lane_->first_block + lane_->block_of_in(port);
      if (value) {
        emit(block, {MscclOperation::receive_reduce_copy, *value, into, part.count, {}, {}});
      } else {
        emit(block, {MscclOperation::receive, {}, into, part.count, {}, {}});
      }
      value = into;
    }
    return into;
  }

  MscclCells copied(const Part& part) {
    const MscclCells& from = part.operands[0];
    if (part.store && !same(from, *part.store)) { local(MscclOperation::copy, from, *part.store, part.count); }
    return part.store.value_or(from);
  }

  MscclCells add_operands(const Part& part, const MscclCells& into) {
    const bool swapped = same(into, part.operands[1]);
    const MscclCells& first = part.operands[swapped ? 1 : 0];
    const MscclCells& second = part.operands[swapped ? 0 : 1];
    if (!same(into, first)) { local(MscclOperation::copy, first, into, part.count); }
    local(MscclOperation::reduce, second, into, part.count);
    return into;
  }

  void local(MscclOperation operation, const MscclCells& from, const MscclCells& into, std::uint32_t count) {
    emit(last_ ? last_->block : lane_->first_block, {operation, from, into, count, {}, {}});
  }

  /// Chunks for one value of this lane on its way; the next value finds them free, since steps keep their order.
  MscclCells spare() {
    if (!spare_) {
      spare_ = MscclCells{Buffer::scratch, gpu_.scratch};
      gpu_.scratch += plan_.single_chunks ? 1 : chunks(lane_->longest);
    }
    return *spare_;
  }

  /// A step has one dependency; a nop before it takes the other.
  void emit(std::uint32_t block, MscclStep step) {
    const bool chained = last_ && last_->block != block;
    if (chained && wait_) {
      MscclStep nop;
      nop.dependency = last_;
      append(block, nop);
    } else if (chained) {
      step.dependency = last_;
    }
    append(block, step);
    if (!wait_) { return; }
    unresolved_.push_back({*last_, wait_->lane.value, wait_->ended});
    wait_.reset();
  }

  void append(std::uint32_t block, const MscclStep& step) {
    last_ = MscclDependency{block, static_cast<std::uint32_t>(gpu_.blocks[block].steps.size())};
    gpu_.blocks[block].steps.push_back(step);
  }

  /// Waits name primitives of lanes that may have been written later.
  void resolve() {
    for (const Unresolved& each : unresolved_) {
      gpu_.blocks[each.at.block].steps[each.at.step].dependency = ends_[each.lane][each.ended];
    }
  }

  const Schedule& schedule_;
  const MscclPlan& plan_;
  AgentId rank_;
  MscclGpu gpu_;
  const LanePlan* lane_ = nullptr;
  std::optional<MscclDependency> last_;  ///< step of the lane
  std::optional<MscclCells> spare_;
  std::optional<Wait> wait_;  ///< that the next step has to take
  std::vector<Unresolved> unresolved_;
  std::vector<std::vector<std::optional<MscclDependency>>> ends_;  ///< of each lane: last step of so many primitives
};

MscclGpu lower_to_msccl(const Schedule& schedule, const MscclPlan& plan, AgentId rank) {
  return Lowering(schedule, plan, rank).lower();
}

constexpr char kLetters[] = {'i', 'o', 's'};

std::string_view coll(CollectiveKind kind) {
  if (const auto word = msccl_name(kind)) { return *word; }
  throw ScenarioError(Problem{"no-msccl-form", fmt::format("MSCCL has no name for {}", name(kind)), {}, ""});
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '"': result += "&quot;"; break;
      default: result += letter;
    }
  }
  return result;
}

/// Which steps another thread block waits for.
std::vector<std::vector<bool>> awaited(const MscclGpu& gpu) {
  std::vector<std::vector<bool>> marks;
  for (const MscclBlock& block : gpu.blocks) { marks.emplace_back(block.steps.size()); }
  for (const MscclBlock& block : gpu.blocks) {
    for (const MscclStep& step : block.steps) {
      if (step.dependency) { marks[step.dependency->block][step.dependency->step] = true; }
    }
  }
  return marks;
}

std::string peer(const std::optional<std::uint32_t>& gpu) { return gpu ? std::to_string(*gpu) : "-1"; }

std::string buffer(const char* role, bool used, const MscclCells& cells) {
  return fmt::format(R"( {0}buf="{1}" {0}off="{2}")", role,
                     used ? kLetters[static_cast<std::size_t>(cells.buffer)] : 'i',
                     used ? static_cast<std::int64_t>(cells.first) : -1);
}

std::string step_line(const MscclStep& step, std::size_t index, bool awaited) {
  const auto dependency = [&](std::uint32_t MscclDependency::*part) {
    return step.dependency ? static_cast<std::int64_t>((*step.dependency).*part) : -1;
  };
  return fmt::format(R"(      <step s="{}" type="{}"{}{} cnt="{}" depid="{}" deps="{}" hasdep="{}"/>)"
                     "\n",
                     index, name(step.operation), buffer("src", reads_source(step.operation), step.source),
                     buffer("dst", writes_destination(step.operation), step.destination), step.count,
                     dependency(&MscclDependency::block), dependency(&MscclDependency::step), awaited ? 1 : 0);
}

std::string gpu_text(const MscclGpu& gpu, std::uint32_t id, std::int64_t input, std::int64_t output) {
  const std::vector<std::vector<bool>> marks = awaited(gpu);
  std::string text = fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", id, input,
                                 output, gpu.scratch);
  for (std::size_t block = 0; block < gpu.blocks.size(); ++block) {
    const MscclBlock& each = gpu.blocks[block];
    text += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", block, peer(each.send),
                        peer(each.receive), each.channel);
    for (std::size_t step = 0; step < each.steps.size(); ++step) {
      text += step_line(each.steps[step], step, marks[block][step]);
    }
    text += "    </tb>\n";
  }
  return text + "  </gpu>\n";
}

void count(const MscclGpu& gpu, MscclSummary& summary) {
  const auto blocks = static_cast<std::uint32_t>(gpu.blocks.size());
  summary.most_blocks = std::max(summary.most_blocks, blocks);
  summary.most_scratch = std::max(summary.most_scratch, gpu.scratch);
  for (const MscclBlock& block : gpu.blocks) {
    summary.most_steps = std::max(summary.most_steps, static_cast<std::uint32_t>(block.steps.size()));
  }
}

std::string head(const Collective& collective, std::string_view name, const MscclSummary& summary) {
  const std::string root = collective.root == 0 ? "" : fmt::format(" root=\"{}\"", collective.root);
  return fmt::format(
      R"(<algo name="{}" proto="Simple" nchannels="{}" nchunksperloop="{}" ngpus="{}" coll="{}" inplace="{}" )"
      R"(outofplace="{}"{} minBytes="0" maxBytes="0">)"
      "\n",
      escaped(name), summary.channels, summary.chunks, collective.ranks, coll(collective.kind),
      collective.in_place ? 1 : 0, collective.in_place ? 0 : 1, root);
}

}  // namespace

MscclSummary export_msccl(const Schedule& schedule, const Collective& collective, std::string_view name,
                          const std::function<void(std::string_view)>& write) {
  coll(collective.kind);
  const MscclPlan plan = plan_msccl(schedule, collective);
  MscclSummary summary;
  summary.chunks = static_cast<std::uint32_t>(collective.count / plan.chunk);
  summary.channels = plan.channels;
  write(head(collective, name, summary));
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    const MscclGpu gpu = lower_to_msccl(schedule, plan, AgentId{rank});
    const Memory memory = schedule.memory(AgentId{rank});
    count(gpu, summary);
    write(gpu_text(gpu, rank, memory.input / plan.chunk, memory.output / plan.chunk));
  }
  write("</algo>\n");
  return summary;
}

}  // namespace athanor
