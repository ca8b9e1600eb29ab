#include "models/traces/read_trace.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/traces/chakra/read_chakra.hpp"
#include "models/traces/goal/goal_program.hpp"
#include "models/traces/kineto/rank_program.hpp"
#include "models/traces/layers/read_layers.hpp"
#include "models/traces/own/trace_json.hpp"
#include "models/traces/trace_files.hpp"
#include "models/traces/trace_limits.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

namespace {

void read_format(TraceFormat format, const std::vector<std::string>& files, const TraceOptions& options,
                 WorkloadDraft& draft) {
  switch (format) {
    case TraceFormat::chakra: return read_chakra(files, false, options, draft);
    case TraceFormat::chakra_json: return read_chakra(files, true, options, draft);
    case TraceFormat::kineto: return read_kineto(files, options, draft);
    case TraceFormat::astra: return read_astra(files.front(), options, draft);
    case TraceFormat::simai: return read_simai(files.front(), options, draft);
    case TraceFormat::goal:
      return add_goal(read_goal_text(files.front(), options.limit.value_or(kMostHeld)), options, draft);
    case TraceFormat::goal_binary:
      return add_goal(read_goal_binary(files.front(), options.limit.value_or(kMostHeld)), options, draft);
    case TraceFormat::athanor: return read_trace_json(files.front(), options, draft);
  }
}

/// Of these formats one file holds all ranks.
bool holds_all_ranks(TraceFormat format) {
  return format != TraceFormat::chakra && format != TraceFormat::chakra_json && format != TraceFormat::kineto;
}

/// Throws ScenarioError for what does not go with the format.
void check_options(TraceFormat format, const std::vector<std::string>& files, const TraceOptions& options) {
  const auto refuse = [&](std::string what, std::string hint) {
    throw ScenarioError(Problem{"conflict", std::move(what), {files.front(), 0, 0, ""}, std::move(hint)});
  };
  if (holds_all_ranks(format) && files.size() > 1) {
    refuse(fmt::format("a trace of format {} is one file, and there are {}", name(format), files.size()), "name one");
  }
  if (holds_all_ranks(format) && options.communication == TraceOptions::Communication::measured) {
    refuse(fmt::format("a trace of format {} holds no measured communication", name(format)),
           R"(leave "communication" out)");
  }
}

/// Endpoints that the workload names: one more than the highest.
std::uint32_t endpoints_of(const Workload& workload) {
  auto count = static_cast<std::uint32_t>(workload.workers.size());
  const auto see = [&](const std::shared_ptr<const EndpointGroups>& groups) {
    if (!groups) { return; }
    for (const auto& group : *groups) {
      for (const std::uint32_t endpoint : group) { count = std::max(count, endpoint + 1); }
    }
  };
  for (const Workload::Communicator& communicator : workload.communicators) { see(communicator.groups); }
  for (const Workload::Channel& channel : workload.channels) { see(channel.pairs); }
  return count;
}

/// An empty profile or list of nodes would be replayed in no time.
void check_not_empty(const std::string& file, WorkloadDraft& draft) {
  const auto idle = [](const Workload::Worker& worker) { return worker.operations.empty(); };
  const auto& workers = draft.workload.workers;
  if (!std::all_of(workers.begin(), workers.end(), idle)) { return; }
  draft.complaints.add({"nothing-to-replay",
                        "nothing that could be replayed is in this trace",
                        {file, 0, 0, ""},
                        "was anything recorded? A profile needs the activities of the GPU"});
}

}  // namespace

std::string_view name(TraceFormat format) {
  switch (format) {
    case TraceFormat::chakra: return "chakra";
    case TraceFormat::chakra_json: return "chakra-json";
    case TraceFormat::kineto: return "kineto";
    case TraceFormat::astra: return "astra";
    case TraceFormat::simai: return "simai";
    case TraceFormat::goal: return "goal";
    case TraceFormat::goal_binary: return "goal-binary";
    case TraceFormat::athanor: return "athanor";
  }
  return "";
}

ImportedTrace read_trace(const std::vector<std::string>& patterns, const TraceOptions& options, Problems& problems) {
  const std::size_t before = problems.size();
  const std::vector<std::string> files = trace_files(patterns, problems);
  ImportedTrace trace;
  if (files.empty() || problems.size() > before) { return trace; }
  WorkloadDraft draft;
  try {
    trace.format = options.format ? *options.format : format_of_file(files.front());
    check_options(trace.format, files, options);
    draft.label("");
    draft.file = files.front();
    read_format(trace.format, files, options, draft);
    if (draft.complaints.empty()) { check_not_empty(files.front(), draft); }
    if (draft.complaints.empty()) { check_matching(draft); }
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) { problems.add(problem); }
  } catch (const SimulationError& error) {  // times and sizes that add up to more than can be held
    problems.add({error.code(), error.what(), {files.front(), 0, 0, ""}, "are the numbers in this file right?"});
  }
  if (before == problems.size()) { trace.ranks = endpoints_of(draft.workload); }
  draft.complaints.report(problems);
  trace.workload = std::move(draft.workload);
  trace.notes = draft.notes.texts();
  return trace;
}

}  // namespace athanor
