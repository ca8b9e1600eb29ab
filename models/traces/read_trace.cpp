#include "models/traces/read_trace.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/core.h>

#include "models/traces/chakra/read_chakra.hpp"
#include "models/traces/goal/goal_program.hpp"
#include "models/traces/kineto/rank_program.hpp"
#include "models/traces/layers/read_layers.hpp"
#include "models/traces/own/trace_json.hpp"
#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"
#include "sim/byte_source.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"

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

ImportedTrace read_trace(const FileReader& reader, const std::vector<std::string>& patterns,
                         const TraceOptions& options, Problems& problems) {
  const std::size_t before = problems.size();
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) { paths.push_back(reader.path(pattern)); }
  const std::vector<std::string> files = trace_files(paths, problems);
  ImportedTrace trace;
  if (files.empty() || problems.size() > before) { return trace; }
  for (const std::string& file : files) { reader.note(file); }
  if (!options.groups.empty()) { reader.note(options.groups); }
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

namespace {

constexpr std::size_t kMostNames = 8;

bool digits(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void tell_missing(const std::string& pattern, const std::map<std::int64_t, std::string>& found, Problems& problems) {
  std::vector<std::int64_t> missing;
  const std::int64_t last = found.rbegin()->first;
  std::int64_t count = 0;
  for (std::int64_t rank = 0; rank < last; ++rank) {
    if (found.contains(rank)) { continue; }
    ++count;
    if (missing.size() < kMostNames) { missing.push_back(rank); }
  }
  if (count == 0) { return; }
  const std::string more = count > static_cast<std::int64_t>(missing.size()) ? ", ..." : "";
  problems.add(
      {"missing-ranks",
       fmt::format("files of {} of the ranks 0 to {} are missing: {}{}", count, last, joined(missing, ", "), more),
       {pattern, 0, 0, ""},
       "a trace needs the files of all its ranks"});
}

std::vector<std::string> expand(const std::string& pattern, Problems& problems) {
  const std::filesystem::path path(pattern);
  const std::string name = path.filename().string();
  const std::size_t star = name.find('*');
  if (star == std::string::npos || name.find('*', star + 1) != std::string::npos) {
    problems.add({"wrong-pattern",
                  "a pattern has one '*', in the name of the file",
                  {pattern, 0, 0, ""},
                  "it stands for the number of the rank"});
    return {};
  }
  const std::string prefix = name.substr(0, star);
  const std::string suffix = name.substr(star + 1);
  std::map<std::int64_t, std::string> found;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string other = entry.path().filename().string();
    if (other.size() <= prefix.size() + suffix.size()) { continue; }
    if (!other.starts_with(prefix) || !other.ends_with(suffix)) { continue; }
    const std::string number = other.substr(prefix.size(), other.size() - prefix.size() - suffix.size());
    if (!digits(number)) { continue; }
    found[*whole_number_of(number)] = (path.parent_path() / other).string();
  }
  if (found.empty()) {
    problems.add(
        {"no-such-file", "no file has a name like this", {pattern, 0, 0, ""}, "'*' stands for the number of the rank"});
    return {};
  }
  tell_missing(pattern, found, problems);
  std::vector<std::string> files;
  for (auto& [rank, file] : found) { files.push_back(std::move(file)); }
  return files;
}

/// "# comments" and "// comments" in front of the content.
std::string_view without_comments(std::string_view text) {
  for (;;) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) { return {}; }
    text.remove_prefix(first);
    if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/");
      if (end == std::string_view::npos) { return {}; }
      text.remove_prefix(end + 2);
    } else if (text.starts_with("//") || text.starts_with("#")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else {
      return text;
    }
  }
}

std::optional<TraceFormat> format_of_json(std::string_view text) {
  if (text.find("\"workload_graph\"") != std::string_view::npos) { return TraceFormat::chakra_json; }
  if (text.find("\"athanor_trace\"") != std::string_view::npos) { return TraceFormat::athanor; }
  for (const char* key : {"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"schemaVersion\""}) {
    if (text.find(key) != std::string_view::npos) { return TraceFormat::kineto; }
  }
  return std::nullopt;
}

/// A policy, perhaps with arguments, and the number of layers.
std::optional<TraceFormat> format_of_layers(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) { return std::nullopt; }
  const auto first = words_of_line(text.substr(0, end));
  const std::string_view rest = text.substr(end + 1);
  const auto second = words_of_line(rest.substr(0, rest.find('\n')));
  if (first.empty() || second.size() != 1 || !whole_number_of(second[0])) { return std::nullopt; }
  const bool simai = text.substr(0, end).find("model_parallel_NPU_group") != std::string_view::npos;
  return simai ? TraceFormat::simai : TraceFormat::astra;
}

std::optional<TraceFormat> format_of_text(std::string_view text) {
  constexpr std::string_view kGoalMagic("\x7f\x10\0\0\0\0\0\0", 8);
  if (text.starts_with(kGoalMagic)) { return TraceFormat::goal_binary; }
  const std::string_view content = without_comments(text);
  if (content.starts_with('{')) { return format_of_json(content); }
  if (content.starts_with("num_ranks")) { return TraceFormat::goal; }
  return format_of_layers(content);
}

}  // namespace

std::vector<std::string> trace_files(const std::vector<std::string>& patterns, Problems& problems) {
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    if (pattern.find('*') == std::string::npos) {
      files.push_back(pattern);
    } else {
      for (std::string& file : expand(pattern, problems)) { files.push_back(std::move(file)); }
    }
  }
  return files;
}

TraceFormat format_of_file(const std::string& path) {
  constexpr std::size_t kBeginning = 1U << 16U;
  if (path.ends_with(".et") || path.ends_with(".et.gz")) { return TraceFormat::chakra; }
  ByteSource source(path, kMostStreamed);
  std::string text(kBeginning, '\0');
  text.resize(source.read(text.data(), text.size()));
  if (const auto format = format_of_text(text)) { return *format; }
  throw ScenarioError(Problem{"unknown-format",
                              "this is no trace whose format is recognised",
                              {path, 0, 0, ""},
                              R"(say it: "format": "chakra", "chakra-json", "kineto", "astra", "simai", "goal", ...)"});
}

}  // namespace athanor
