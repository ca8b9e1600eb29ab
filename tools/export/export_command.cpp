#include <filesystem>
#include <fstream>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/formats/goal_export.hpp"
#include "algorithms/formats/htsim_export.hpp"
#include "algorithms/formats/msccl_export.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/exchange_section.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "sim/parse.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/export/export_fabric.hpp"
#include "tools/export/export_sweep.hpp"
#include "tools/export/export_trace.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// What MSCCL's runtimes are built for; a file beyond it is right, but they may not load it.
constexpr std::uint32_t kRuntimeSteps = 256;
constexpr std::uint32_t kRuntimeChannels = 32;

boost::program_options::options_description export_options() {
  namespace options = boost::program_options;
  options::options_description result("options");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("format", text("FORMAT"),
      "schedule: msccl (XML for MSCCL and RCCL), goal (LogGOPSim, ATLAHS) or htsim (.cm); fabric: graphml, simgrid, "
      "htsim (.topo), dot or json; sweep: csv (absent), json or jsonl");
  add("ranks", text("N"), "how many take part");
  add("size", text("SIZE"), "the payload, as in 1MiB; msccl without it: the least that is cut into equal chunks");
  add("type", text("TYPE"), "of the elements; absent: float32");
  add("root", text("RANK"), "of broadcast and reduce; absent: 0");
  add("in-place", "input and output share memory");
  add("channels", text("N"), "side by side; absent: 1");
  add("chunk", text("SIZE"), "most payload of one chunk; absent: all in one loop");
  add("slices", text("N"), "messages per chunk; absent: 1");
  add("group", text("N"), "ranks per node, for hierarchies");
  add("dimensions", text("XxY"), "of torus, mesh and swing, as in 4x4x2; absent: sides of the least sum");
  add("rings", text("N"), "of multi_ring: directed rings at most; absent: 8");
  add("exchange", text("FILE"), "of all_to_all_v: a CSV or JSON table of bytes, a row per sender");
  add("reduce-rate", text("RATE"), "goal: bytes that a rank adds up per second, as in 10GB/s; absent: in no time");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"), "fabric: only this case; repeatable");
  add("set", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "fabric, trace: changes the scenario, or the keys of \"trace\", first; repeatable");
  add("output,o", text("FILE"), "absent: stdout");
  return result;
}

Elements elements(const Invocation& invocation, const char* option, DataType type) {
  const Bytes size = size_option("export", invocation, option);
  if (size % size_of(type) != Bytes::zero()) {
    throw UsageError(
        fmt::format("export: --{} {} is no whole number of {} elements", option, invocation.text(option), name(type)));
  }
  return Elements{size / size_of(type)};
}

enum class Format { msccl, goal, htsim };

Format format_of(const Invocation& invocation) {
  const std::string name = invocation.has("format") ? invocation.text("format") : "";
  if (name == "msccl") { return Format::msccl; }
  if (name == "goal") { return Format::goal; }
  if (name == "htsim") { return Format::htsim; }
  throw UsageError(name.empty() ? "export: --format msccl, goal or htsim is missing"
                                : fmt::format("export: there is no format '{}'; choose msccl, goal or htsim", name));
}

/// What is exported: checked as far as the command line goes.
struct Request {
  Format format = Format::msccl;
  std::shared_ptr<const Algorithm> algorithm;
  Collective collective;
  Layout layout;
  DataType type = DataType::float32;
  GoalOptions goal;
};

Layout layout_of(const Invocation& invocation, DataType type) {
  Layout layout;
  layout.channels = number_option("export", invocation, "channels", 1).value_or(1);
  layout.slices = number_option("export", invocation, "slices", 1).value_or(1);
  if (invocation.has("chunk")) { layout.chunk = elements(invocation, "chunk", type); }
  layout.group = number_option("export", invocation, "group", 1).value_or(0);
  layout.shape = GridShape{dimensions_option("export", invocation, "dimensions"),
                           number_option("export", invocation, "rings", 1).value_or(0)};
  return layout;
}

/// A name of the catalog, or the path of an MSCCL algorithm.
std::shared_ptr<const Algorithm> algorithm_of(CollectiveKind kind, const std::string& word) {
  if (word.ends_with(".xml")) { return ImportShelf("").msccl(word); }
  return {std::shared_ptr<const Algorithm>(), &find(kind, word)};
}

std::shared_ptr<const AllToAllVSizes> exchange_of(const Invocation& invocation, std::uint32_t ranks, DataType type) {
  if (!invocation.has("exchange")) { return nullptr; }
  Problems problems;
  const ExchangeText text = read_exchange_file(invocation.text("exchange"), problems);
  problems.throw_if_any();
  auto exchange = make_exchange(text, ranks, size_of(type), 0, problems);
  problems.throw_if_any();
  return exchange;
}

void choose_payload(const Invocation& invocation, Request& request) {
  Collective& collective = request.collective;
  const bool fixed = collective.sizes != nullptr || collective.kind == CollectiveKind::barrier;
  if (invocation.has("size")) {
    if (collective.sizes) { throw UsageError("export: --size is that of the --exchange; leave it out"); }
    collective.count = elements(invocation, "size", request.type);
  } else if (request.format == Format::msccl && !fixed) {
    collective.count = request.algorithm->granule(collective, request.layout);
  } else if (!fixed) {
    throw UsageError("export: --size SIZE is missing; GOAL and htsim hold bytes");
  }
}

Request request_of(const Invocation& invocation) {
  if (invocation.arguments.size() != 3) {
    throw UsageError("export: a schedule is COLLECTIVE ALGORITHM, as in `athanor export schedule all_reduce ring ...`");
  }
  for (const char* option : {"case", "set"}) {
    if (invocation.has(option)) { throw UsageError(fmt::format("export: --{} goes with fabric", option)); }
  }
  Request request;
  request.format = format_of(invocation);
  request.type = invocation.has("type") ? named_type("export", invocation.text("type")) : DataType::float32;
  if (!invocation.has("ranks")) { throw UsageError("export: --ranks N is missing"); }
  Collective& collective = request.collective;
  collective = {named_collective("export", invocation.arguments[1]), *number_option("export", invocation, "ranks", 1),
                Elements::zero(), number_option("export", invocation, "root", 0).value_or(0),
                invocation.has("in-place")};
  request.algorithm = algorithm_of(collective.kind, invocation.arguments[2]);
  request.layout = layout_of(invocation, request.type);
  collective.sizes = exchange_of(invocation, collective.ranks, request.type);
  if (collective.sizes) { collective.count = collective.sizes->largest(); }
  if (const auto refusal = refusal_with_alternatives(*request.algorithm, collective, request.layout)) {
    throw ScenarioError(*refusal);
  }
  choose_payload(invocation, request);
  request.goal.element_bytes = element_size(request.type);
  if (invocation.has("reduce-rate")) {
    request.goal.reduced_per_second = quantity_option("export", invocation, "reduce-rate", &parse_bandwidth).count();
  }
  return request;
}

/// A file that is there when it is finished, or else standard output.
class Output {
 public:
  Output(const std::string& path, const Streams& streams) : streams_(streams) {
    if (path.empty()) { return; }
    check_writable(path);
    file_.emplace(path);
  }

  void write(std::string_view text) { file_ ? file_->write(text) : streams_.out(text); }
  void finish() {
    if (file_) { file_->finish(); }
  }

 private:
  const Streams& streams_;
  std::optional<OutputFile> file_;
};

Json export_as_msccl(const Request& request, const Schedule& schedule, Output& output, const Streams& streams) {
  const std::string name = fmt::format("{}_{}_{}", athanor::name(request.collective.kind), request.algorithm->name,
                                       request.collective.ranks);
  const MscclSummary summary =
      export_msccl(schedule, request.collective, name, [&](std::string_view text) { output.write(text); });
  if (summary.most_steps > kRuntimeSteps) {
    warn(streams, fmt::format("a thread block has {} steps, and MSCCL's runtimes take at most {}", summary.most_steps,
                              kRuntimeSteps));
  }
  if (summary.channels > kRuntimeChannels) {
    warn(streams, fmt::format("{} channels, and MSCCL's runtimes take at most {}", summary.channels, kRuntimeChannels));
  }
  return {{"chunks", summary.chunks},
          {"channels", summary.channels},
          {"thread_blocks", summary.most_blocks},
          {"steps", summary.most_steps},
          {"scratch_chunks", summary.most_scratch}};
}

Json export_as_goal(const Request& request, const Schedule& schedule, Output& output, const Streams& streams) {
  const GoalSummary summary = export_goal(schedule, request.goal, [&](std::string_view text) { output.write(text); });
  if (summary.empty > 0) {
    warn(streams, fmt::format("{} empty messages are written as 1 byte each, since GOAL has none", summary.empty));
  }
  return {{"messages", summary.messages},
          {"bytes", summary.bytes},
          {"empty_messages", summary.empty},
          {"operations", summary.operations}};
}

Json export_as_htsim(const Request& request, const Schedule& schedule, Output& output, const Streams& streams) {
  const HtsimSummary summary =
      export_htsim(schedule, request.goal.element_bytes, [&](std::string_view text) { output.write(text); });
  if (summary.empty > 0) {
    warn(streams, fmt::format("{} empty messages are written as 1 byte each, since htsim has none", summary.empty));
  }
  return {{"messages", summary.flows},
          {"bytes", summary.bytes},
          {"empty_messages", summary.empty},
          {"triggers", summary.triggers}};
}

Json export_as(const Request& request, const Schedule& schedule, Output& output, const Streams& streams) {
  switch (request.format) {
    case Format::msccl: return export_as_msccl(request, schedule, output, streams);
    case Format::goal: return export_as_goal(request, schedule, output, streams);
    case Format::htsim: return export_as_htsim(request, schedule, output, streams);
  }
  return {};
}

ExitCode export_schedule(const Invocation& invocation, const Streams& streams) {
  const Request request = request_of(invocation);
  const std::string path = invocation.has("output") ? invocation.text("output") : "";
  if (path.empty() && invocation.has("json") && invocation.text("json").empty()) {
    throw UsageError("export: --json and the export cannot share stdout; write one of them to a file");
  }
  Output output(path, streams);
  const Streams quiet{.out = streams.out, .err = [](std::string_view) {}};
  const Streams& notes = invocation.quiet ? quiet : streams;
  const auto schedule = request.algorithm->make(request.collective, request.layout);
  Json summary = export_as(request, *schedule, output, notes);
  output.finish();
  std::string line = fmt::format("athanor: {} {} over {} ranks:", name(request.collective.kind),
                                 request.algorithm->name, request.collective.ranks);
  for (const auto& [key, value] : summary.members()) { line += fmt::format(" {} {}", key, text_of(value)); }
  notes.err(line + "\n");
  if (invocation.has("json")) { write_json(invocation, streams, text_of(Json{{"results", std::vector{summary}}}, 2)); }
  return ExitCode::ok;
}

ExitCode export_anything(const Invocation& invocation, const Streams& streams) {
  const std::string& what = invocation.arguments[0];
  if (what == "schedule") { return export_schedule(invocation, streams); }
  if (what == "fabric") { return export_fabric(invocation, streams); }
  if (what == "trace") { return export_trace(invocation, streams); }
  if (what == "sweep") { return export_sweep(invocation, streams); }
  throw UsageError(fmt::format(
      "export: '{}' cannot be exported; as in `athanor export schedule ...`, `fabric`, `trace` or `sweep`", what));
}

}  // namespace

Command export_command() {
  return {
      .name = "export",
      .summary = "writes an algorithm or a fabric for other tools to run, a trace as JSON, or a sweep as a table",
      .arguments =
          "schedule COLLECTIVE ALGORITHM|FILE.xml, or fabric SCENARIO|PRESET, or trace FILE|PATTERN, or sweep FILE",
      .explanation =
          "MSCCL: a lane becomes a thread block, or several where it has more peers; engines, send/receive and parts\n"
          "of unequal size are refused. GOAL: every message has its own tag; engines are refused. htsim: a flow for "
          "each\n"
          "message, started by triggers. Fabrics: GraphML, a platform of SimGrid, a .topo of htsim, Graphviz, JSON.\n"
          "Traces of Chakra, PyTorch's profiler, ASTRA-sim, SimAI and GOAL: JSON of Athanor (docs/traces.md).\n"
          "Sweeps: the results in their file, with their parameters.\n",
      .example = "athanor export schedule all_reduce ring --format goal --ranks 8 --size 1MiB -o ring.goal",
      .least_arguments = 2,
      .most_arguments = 3,
      .options = &export_options,
      .execute = &export_anything};
}

}  // namespace athanor
