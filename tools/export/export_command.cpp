#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/formats/goal_export.hpp"
#include "algorithms/formats/htsim_export.hpp"
#include "algorithms/formats/msccl_export.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/exchange_section.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output.hpp"
#include "tools/export/export_options.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// What MSCCL's runtimes are built for; a file beyond it is right, but they may not load it.
constexpr std::uint32_t kRuntimeSteps = 256;
constexpr std::uint32_t kRuntimeChannels = 32;

Elements elements(Bytes size, const char* option, DataType type) {
  if (size % size_of(type) != Bytes::zero()) {
    throw UsageError(
        fmt::format("export: --{} {} is no whole number of {} elements", option, to_string(size), name(type)));
  }
  return Elements{size / size_of(type)};
}

enum class Format { msccl, goal, htsim };

Format format_of(const ExportOptions& options) {
  const std::string name = options.format.value_or("");
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

/// A name of the catalog, or the path of an MSCCL algorithm.
std::shared_ptr<const Algorithm> algorithm_of(CollectiveKind kind, const std::string& word) {
  if (word.ends_with(".xml")) { return ImportCache(FileReader()).msccl(word); }
  return {std::shared_ptr<const Algorithm>(), &find(kind, word)};
}

std::shared_ptr<const AllToAllVSizes> exchange_of(const ExportOptions& options, std::uint32_t ranks, DataType type) {
  if (!options.exchange) { return nullptr; }
  Problems problems;
  const ExchangeConfig config = read_exchange_file(options.common.library.files(), *options.exchange, problems);
  problems.throw_if_any();
  auto exchange = make_exchange(config, ranks, size_of(type), 0, problems);
  problems.throw_if_any();
  return exchange;
}

void choose_payload(const ExportOptions& options, Request& request) {
  Collective& collective = request.collective;
  const bool fixed = collective.sizes != nullptr || collective.kind == CollectiveKind::barrier;
  if (options.size) {
    if (collective.sizes) { throw UsageError("export: --size is that of the --exchange; leave it out"); }
    collective.count = elements(*options.size, "size", request.type);
  } else if (request.format == Format::msccl && !fixed) {
    collective.count = request.algorithm->granule(collective, request.layout);
  } else if (!fixed) {
    throw UsageError("export: --size SIZE is missing; GOAL and htsim hold bytes");
  }
}

Request request_of(const ExportOptions& options) {
  if (options.common.arguments.size() != 3) {
    throw UsageError("export: a schedule is COLLECTIVE ALGORITHM, as in `athanor export schedule all_reduce ring ...`");
  }
  if (!options.scenario.cases.empty()) { throw UsageError("export: --case goes with fabric"); }
  if (!options.scenario.settings.empty()) { throw UsageError("export: --set goes with fabric"); }
  Request request;
  request.format = format_of(options);
  request.type = options.type ? named_type("export", *options.type) : DataType::float32;
  if (!options.ranks) { throw UsageError("export: --ranks N is missing"); }
  Collective& collective = request.collective;
  collective = {named_collective("export", options.common.arguments[1]), *options.ranks, Elements::zero(), options.root,
                options.in_place};
  request.algorithm = algorithm_of(collective.kind, options.common.arguments[2]);
  request.layout = options.layout;
  request.layout.shape = options.grid;
  if (options.chunk) { request.layout.chunk = elements(*options.chunk, "chunk", request.type); }
  collective.sizes = exchange_of(options, collective.ranks, request.type);
  if (collective.sizes) { collective.count = collective.sizes->largest(); }
  if (const auto refusal = refusal_with_alternatives(*request.algorithm, collective, request.layout)) {
    throw ScenarioError(*refusal);
  }
  choose_payload(options, request);
  request.goal.element_bytes = element_size(request.type);
  if (options.reduce_rate) { request.goal.reduced_per_second = options.reduce_rate->count(); }
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

ExitCode export_schedule(const ExportOptions& options, const Streams& streams) {
  const Request request = request_of(options);
  const std::string path = options.destination();
  if (path.empty() && options.common.json == "") {
    throw UsageError("export: --json and the export cannot share stdout; write one of them to a file");
  }
  Output output(path, streams);
  const Streams quiet{.out = streams.out, .err = [](std::string_view) {}};
  const Streams& notes = options.common.quiet ? quiet : streams;
  const auto schedule = request.algorithm->make(request.collective, request.layout);
  Json summary = export_as(request, *schedule, output, notes);
  output.finish();
  std::string line = fmt::format("athanor: {} {} over {} ranks:", name(request.collective.kind),
                                 request.algorithm->name, request.collective.ranks);
  for (const auto& [key, value] : summary.members()) { line += fmt::format(" {} {}", key, text_of(value)); }
  notes.err(line + "\n");
  if (options.common.json) { write_json(options.common, streams, text_of(Json{{"results", std::vector{summary}}}, 2)); }
  return ExitCode::ok;
}

ExitCode export_anything(const ExportOptions& options, const Streams& streams) {
  const std::string& what = options.common.arguments[0];
  if (what == "schedule") { return export_schedule(options, streams); }
  if (what == "fabric") { return export_fabric(options, streams); }
  if (what == "trace") { return export_trace(options, streams); }
  if (what == "sweep") { return export_sweep(options, streams); }
  throw UsageError(fmt::format(
      "export: '{}' cannot be exported; as in `athanor export schedule ...`, `fabric`, `trace` or `sweep`", what));
}

}  // namespace

void visit(OptionFields& fields, ExportOptions& options) {
  fields.text("format", "FORMAT", options.format,
              "schedule: msccl (XML for MSCCL and RCCL), goal (LogGOPSim, ATLAHS) or htsim (.cm); fabric: graphml, "
              "simgrid, htsim (.topo), dot or json; trace: athanor (absent), chakra, goal, astra or simai; sweep: csv "
              "(absent), json or jsonl");
  fields.number("ranks", "N", options.ranks, 1, "how many take part");
  fields.size("size", "SIZE", options.size,
              "the payload, as in 1MiB; msccl without it: the least that is cut into equal chunks");
  fields.text("type", "TYPE", options.type, "of the elements; absent: float32");
  fields.number("root", "RANK", options.root, 0, "of broadcast and reduce; absent: 0");
  fields.flag("in-place", options.in_place, "input and output share memory");
  fields.number("channels", "N", options.layout.channels, 1, "side by side; absent: 1");
  fields.size("chunk", "SIZE", options.chunk, "most payload of one chunk; absent: all in one loop");
  fields.number("slices", "N", options.layout.slices, 1, "messages per chunk; absent: 1");
  fields.number("group", "N", options.layout.group, 1, "ranks per node, for hierarchies");
  fields.dimensions("dimensions", "XxY", options.grid.dimensions,
                    "of torus, mesh and swing, as in 4x4x2; absent: sides of the least sum");
  fields.number("rings", "N", options.grid.rings, 1, "of multi_ring: directed rings at most; absent: 8");
  fields.text("exchange", "FILE", options.exchange, "of all_to_all_v: a CSV or JSON table of bytes, a row per sender");
  fields.quantity("reduce-rate", "RATE", options.reduce_rate, &parse_bandwidth,
                  "goal: bytes that a rank adds up per second, as in 10GB/s; absent: in no time");
  fields.texts("case", "NAME", options.scenario.cases, "fabric, trace: only this case; repeatable");
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings,
               "fabric, trace: changes the scenario, or the keys of a file's \"trace\", first; repeatable");
  fields.written_file("output,o", options.output,
                      "absent: stdout; of traces of Chakra the beginning of the names of their files");
}

Command export_command() {
  return {
      .name = "export",
      .summary =
          "writes an algorithm, a fabric or a training step for other tools to run, a trace as JSON, or a sweep as a "
          "table",
      .arguments =
          "schedule COLLECTIVE ALGORITHM|FILE.xml, or fabric SCENARIO|PRESET, or trace SCENARIO|FILE|PATTERN, or sweep "
          "FILE",
      .explanation =
          "MSCCL: a lane becomes a thread block, or several where it has more peers; engines, send/receive and parts\n"
          "of unequal size are refused. GOAL: every message has its own tag; engines are refused. htsim: a flow for "
          "each\n"
          "message, started by triggers. Fabrics: GraphML, a platform of SimGrid, a .topo of htsim, Graphviz, JSON.\n"
          "Traces of Chakra, PyTorch's profiler, ASTRA-sim, SimAI and GOAL, and training steps of scenarios: JSON of\n"
          "Athanor, or execution traces of Chakra (docs/traces.md).\n"
          "Sweeps: the results in their file, with their parameters.\n",
      .example = "athanor export schedule all_reduce ring --format goal --ranks 8 --size 1MiB -o ring.goal",
      .least_arguments = 2,
      .most_arguments = 3,
      .prepare = &prepared<ExportOptions, &export_anything>};
}

}  // namespace athanor
