#include "algorithms/formats/msccl_export.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "algorithms/formats/msccl_gpu.hpp"
#include "algorithms/formats/msccl_plan.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

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
