#include "tools/cli/output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

namespace files = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw FileError(fmt::format("cannot write {}: {}", path, reason));
}

}  // namespace

void check_writable(const std::string& path) {
  std::error_code ignored;
  const files::path parent = files::path(path).has_parent_path() ? files::path(path).parent_path() : ".";
  if (files::is_directory(path, ignored)) { refuse(path, "it is a directory"); }
  if (!files::is_directory(parent, ignored)) { refuse(path, "there is no directory " + parent.string()); }
  const std::string target = files::exists(path, ignored) ? path : parent.string();
  if (access(target.c_str(), W_OK) != 0) { refuse(path, std::strerror(errno)); }
}

void check_writable(const std::optional<std::string>& path) {
  if (path) { check_writable(*path); }
}

void write_to(const std::string& path, const Streams& streams, const std::string& text) {
  path.empty() ? streams.out(text) : write_text_file(path, text);
}

void write_json(const CommonOptions& common, const Streams& streams, const std::string& text) {
  write_to(common.json.value_or(""), streams, text + "\n");
}

OutputChoice::OutputChoice(std::optional<std::string> json, std::optional<std::string> csv, const Streams& streams)
    : json_(std::move(json)), csv_(std::move(csv)), streams_(streams), tables_(json_ != "" && csv_ != "") {
  if (json_ == "" && csv_ == "") {
    throw UsageError("--json and --csv cannot share stdout; write one of them as --csv=FILE");
  }
  for (const auto& path : {json_, csv_}) {
    if (path && !path->empty()) { check_writable(*path); }
  }
}

void OutputChoice::print(std::string_view text) const {
  if (tables_) { streams_.out(printable_lines(text)); }
}

void OutputChoice::write_json(const std::function<std::string()>& text) const {
  if (json_) { write_to(*json_, streams_, text()); }
}

void OutputChoice::write_csv(const std::function<std::string()>& text) const {
  if (csv_) { write_to(*csv_, streams_, text()); }
}

}  // namespace athanor
