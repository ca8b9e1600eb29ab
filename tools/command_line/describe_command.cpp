#include <algorithm>
#include <filesystem>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/command_line/simulate_case.hpp"
#include "tools/scenario/cluster_section.hpp"
#include "topologies/description.hpp"

namespace athanor {

namespace {

boost::program_options::options_description describe_options() {
  namespace options = boost::program_options;
  options::options_description described("options");
  auto add = described.add_options();
  add("dot", options::value<std::string>()->value_name("FILE"), "the fabric as a Graphviz graph; of one case");
  add("fabric", options::value<std::string>()->value_name("FILE"),
      "devices, links and routes as JSON, for other programs; of one case");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"), "only this case; repeatable");
  add("set", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "changes the scenario first; repeatable");
  return described;
}

/// A cluster and what to call it.
struct Subject {
  std::string name;
  std::shared_ptr<const Cluster> cluster;
};

/// Files win over presets; what is neither is most likely a slip in a preset's name.
bool is_preset_name(const std::string& argument) {
  return !std::filesystem::exists(argument) && argument.find('/') == std::string::npos && !argument.ends_with(".json");
}

Subject preset_subject(const std::string& name, const Invocation& invocation) {
  auto cluster = preset_cluster(name, invocation.library);
  if (cluster) { return {name, std::move(cluster)}; }
  std::vector<std::string> names;
  for (const PresetSummary& preset : preset_summaries(invocation.library)) {
    if (preset.kind == "node") { names.push_back(preset.name); }
  }
  const std::string near = nearest(name, names);
  throw UsageError(
      fmt::format("describe: '{}' is neither a file nor a node preset; {}", name,
                  near.empty() ? "`athanor list presets` names them" : fmt::format("did you mean '{}'?", near)));
}

std::vector<Subject> subjects_of(const Invocation& invocation) {
  const std::string& argument = invocation.arguments[0];
  if (is_preset_name(argument)) { return {preset_subject(argument, invocation)}; }
  std::vector<Subject> subjects;
  for (const Scenario& scenario : read_scenarios(invocation)) {
    for (const Case& each : scenario.cases) {
      const std::string name = each.name.empty() ? scenario.path : each.name;
      const auto same = [&](const Subject& subject) { return subject.cluster == each.cluster; };
      const auto known = std::find_if(subjects.begin(), subjects.end(), same);
      if (known == subjects.end()) {
        subjects.push_back({name, each.cluster});
      } else {
        known->name += ", " + name;
      }
    }
  }
  return subjects;
}

const Cluster& the_only(const std::vector<Subject>& subjects, std::string_view option) {
  if (subjects.size() == 1) { return *subjects[0].cluster; }
  throw UsageError(
      fmt::format("--{} writes one cluster, and these are {}; choose with --case", option, subjects.size()));
}

void write_fabric(const Invocation& invocation, const std::vector<Subject>& subjects) {
  if (invocation.has("dot")) { write_text_file(invocation.text("dot"), to_dot(the_only(subjects, "dot"))); }
  if (invocation.has("fabric")) {
    write_text_file(invocation.text("fabric"), fabric_to_json(the_only(subjects, "fabric")).dump(1) + "\n");
  }
}

ExitCode describe_clusters(const Invocation& invocation, const Streams& streams) {
  const std::vector<Subject> subjects = subjects_of(invocation);
  write_fabric(invocation, subjects);
  nlohmann::json results = nlohmann::json::array();
  for (const Subject& subject : subjects) {
    const ClusterDescription description = describe(*subject.cluster);
    if (invocation.has("json")) {
      results.push_back(to_json(description));
      results.back()["name"] = subject.name;
    } else {
      streams.out(fmt::format("{}{}\n{}", &subject == subjects.data() ? "" : "\n", subject.name, to_text(description)));
    }
  }
  if (invocation.has("json")) { write_json(invocation, streams, nlohmann::json{{"results", results}}.dump(2)); }
  return ExitCode::ok;
}

}  // namespace

Command describe_command() {
  return {.name = "describe",
          .summary = "sums up the cluster of a scenario or a preset",
          .arguments = "SCENARIO|PRESET",
          .explanation =
              "Devices, links, diameter, bisection bandwidth and oversubscription; --dot draws it, "
              "--fabric hands it to other programs.\n",
          .example = "athanor describe DGX-H100 --dot dgx.dot",
          .least_arguments = 1,
          .most_arguments = 1,
          .options = &describe_options,
          .execute = &describe_clusters};
}

}  // namespace athanor
