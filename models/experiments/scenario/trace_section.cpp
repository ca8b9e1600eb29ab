#include "models/experiments/scenario/trace_section.hpp"

#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/trace.hpp"
#include "models/traces/read_trace.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

constexpr std::int64_t kMostScale = 1000;

void read_files(FieldValue& value, TraceConfig& config) {
  value.one_of({{Type::string, [&](FieldValue& one) { config.files = {one.text().value_or("")}; }},
                {Type::list, [&](FieldValue& list) { list.visit(config.files); }}});
}

Names<TraceFormat> format_names() {
  Names<TraceFormat> names({});
  for (const TraceFormat format :
       {TraceFormat::chakra, TraceFormat::chakra_json, TraceFormat::kineto, TraceFormat::astra, TraceFormat::simai,
        TraceFormat::goal, TraceFormat::goal_binary, TraceFormat::athanor}) {
    names.named.push_back({name(format), format});
  }
  return names;
}

void read_roofline(Fields& fields, TraceOptions::Roofline& roofline) {
  std::uint64_t gigaflops = 1;
  fields.required("gigaflops", gigaflops, "Operations per second, in 10^9", {1});
  fields.required("bandwidth", roofline.bandwidth, "Of the GPU's memory");
  constexpr double kGiga = 1e9;
  roofline.flops = static_cast<double>(gigaflops) * kGiga;
}

void read_how(Fields& fields, TraceOptions& options) {
  using Communication = TraceOptions::Communication;
  fields.optional("compute_scale", options.compute_scale,
                  "Computations of the GPU take so many times as long as in the trace", {{0, 1}, {kMostScale, 1}});
  fields.optional("communication", options.communication,
                  "simulated: on this cluster; measured: as long as in the trace, waiting for others included",
                  {{"simulated", Communication::simulated}, {"measured", Communication::measured}});
  fields.optional("cpu", options.cpu, "serial: operations of the CPU take their time beside the GPU; free: none",
                  {{"serial", TraceOptions::Cpu::serial}, {"free", TraceOptions::Cpu::free}});
}

/// All that decides what becomes of the files.
std::string key_of(const std::vector<std::string>& files, const TraceOptions& options) {
  const auto number = [](const auto& value) { return value ? std::to_string(value->count()) : std::string(); };
  const TraceOptions::Roofline roofline = options.roofline.value_or(TraceOptions::Roofline{});
  return fmt::format("{}|{}|{}/{}|{}|{}|{}|{}|{}|{}|{} {}|{}|{}|{}|{}", joined(files, "|"),
                     options.format ? name(*options.format) : "", options.compute_scale.numerator,
                     options.compute_scale.denominator, static_cast<int>(options.communication),
                     static_cast<int>(options.cpu), number(options.unit), options.ranks.value_or(0),
                     options.model_ranks, options.groups, roofline.flops, roofline.bandwidth.count(), options.step,
                     number(options.eager), number(options.limit), options.drop_absent);
}

}  // namespace

std::shared_ptr<const ImportedTrace> TraceCache::read(const FileReader& reader, const std::vector<std::string>& names,
                                                      const TraceOptions& options, Problems& problems) {
  std::vector<std::string> files;
  for (const std::string& name : names) { files.push_back(reader.path(name)); }
  std::shared_ptr<const ImportedTrace>& trace = traces_[key_of(files, options)];
  if (trace) { return trace; }
  const std::size_t before = problems.size();
  ImportedTrace found = read_trace(reader, names, options, problems);
  if (problems.size() == before) { trace = std::make_shared<const ImportedTrace>(std::move(found)); }
  return trace;
}

void visit(Fields& fields, const FileReader& files, TraceCache& cache, Problems& problems, TraceConfig& config) {
  TraceOptions& options = config.options;
  fields.required_value("files", "Paths relative to the scenario; or one with '*' in the place of the rank",
                        [&](FieldValue& value) { read_files(value, config); });
  fields.optional("format", options.format, "Absent: by name and content", format_names());
  read_how(fields, options);
  fields.optional("unit", options.unit, "Of times in the text of ASTRA-sim, and of SimAI where it is not 1ns",
                  {Time{1}});
  fields.optional("ranks", options.ranks, "Of the text of ASTRA-sim, and of a profile of one rank",
                  {1, kMostTraceRanks});
  fields.optional("model_ranks", options.model_ranks, "Of the text of ASTRA-sim: how many share a model");
  std::string groups;
  fields.optional("groups", groups, "Of Chakra: a comm_group.json");
  fields.optional_object("roofline", "Of Chakra: how long computations take that have no duration", [&](Fields& inner) {
    options.roofline = TraceOptions::Roofline{};  // Clang 14 refuses emplace() of a nested struct
    read_roofline(inner, *options.roofline);
  });
  fields.optional("step", options.step, "Of profiles: the ProfilerStep to be replayed; absent: all that was recorded");
  fields.optional("eager", options.eager, "Of GOAL: messages up to this size do not wait for their receiver");
  fields.optional("limit", options.limit,
                  "What may come out of a file that is decompressed; absent: 1 GiB, of profiles and .et files 4 GiB",
                  {Bytes{1}});
  bool drop = false;
  fields.optional("drop_absent", drop, "Dependencies on operations that are not in the file are left out");
  options.drop_absent = drop;
  if (!fields.ok()) { return; }
  if (!groups.empty()) { options.groups = files.path(groups); }
  try {
    config.trace = cache.read(files, config.files, options, problems);
  } catch (const FileError& error) {
    fields.problem("files", "no-trace", error.what(), "a path is relative to the scenario's file");
  }
}

namespace {

class TraceReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    athanor::visit(section, context.files, context.traces, context.problems, config_);
  }

  void fit(CaseParts& parts) override {
    const Cluster& cluster = *parts.platform().cluster;
    if (!config_.trace || config_.trace->ranks <= cluster.endpoints.size()) { return; }
    parts.fields.problem("trace", "too-many-ranks",
                         fmt::format("the trace has {} ranks, but the cluster has {} endpoints: {}",
                                     config_.trace->ranks, cluster.endpoints.size(), cluster.description),
                         "describe a larger cluster");
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    std::optional<WorkloadNccl> nccl = prepare_workload(config_.trace->ranks, parts);
    if (!nccl) { return nullptr; }
    return std::make_shared<const TraceExperiment>(std::move(config_), std::move(*nccl));
  }

 private:
  TraceConfig config_;
};

}  // namespace

std::unique_ptr<ExperimentReader> trace_reader() { return std::make_unique<TraceReader>(); }

}  // namespace athanor
