#include "read_log.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/check.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"

namespace athanor {

FileOfText::FileOfText(std::string_view name, std::string_view text)
    : path_((std::filesystem::temp_directory_path() / fmt::format("athanor-{}-{}", name, getpid())).string()) {
  std::ofstream(path_, std::ios::binary) << text;
}

FileOfText::~FileOfText() { std::filesystem::remove(path_); }

std::uint64_t ReadLog::left(std::string_view reason) const {
  const auto at = left_out.find(reason);
  return at == left_out.end() ? 0 : at->second.rows;
}

ReadLog read_log_file(std::string_view format, const std::string& path, std::string_view keys, LogSelection selection,
                      const std::vector<std::string>& gpu_types) {
  const auto& all = log_formats();
  const auto at = std::find_if(all.begin(), all.end(), [&](const LogFormatEntry& each) { return each.name == format; });
  require(at != all.end(), "the catalog has no {}", format);
  const auto kind = at->make();
  Problems problems;
  read_document(Document::parse(std::string(keys), "keys"), problems, [&](Fields& fields) { kind->visit(fields); });
  problems.throw_if_any();
  JobLog log(std::move(selection), gpu_types);
  kind->read(path, FileReader(), log);
  log.finish();
  ReadLog read;
  read.waits = log.waits();
  read.left_out = log.left_out();
  read.without_effect = log.without_effect();
  read.rows = log.rows();
  read.zero = log.zero();
  read.jobs = log.take();
  return read;
}

ReadLog read_log(std::string_view format, std::string_view text, std::string_view keys, LogSelection selection,
                 const std::vector<std::string>& gpu_types) {
  const FileOfText file("job-log", text);
  return read_log_file(format, file.path(), keys, std::move(selection), gpu_types);
}

std::string problems_of_log(std::string_view format, std::string_view text, std::string_view keys,
                            const std::vector<std::string>& gpu_types) {
  std::string found;
  try {
    read_log(format, text, keys, {}, gpu_types);
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) {
      found += fmt::format("{}{} {}", found.empty() ? "" : ", ", problem.place.line, problem.code);
    }
  }
  return found;
}

}  // namespace athanor
