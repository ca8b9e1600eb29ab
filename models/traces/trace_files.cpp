#include "models/traces/trace_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "models/traces/byte_source.hpp"
#include "models/traces/trace_limits.hpp"
#include "sim/words.hpp"

namespace athanor {

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
       fmt::format("files of {} of the ranks 0 to {} are missing: {}{}", count, last, fmt::join(missing, ", "), more),
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
