#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/logs/log_format.hpp"

namespace athanor {

/// A log as a format of the catalog reads it.
struct ReadLog {
  JobList jobs;
  std::vector<std::optional<WallTime>> waits;
  std::map<std::string, LeftOut, std::less<>> left_out;
  std::map<std::string, LeftOut, std::less<>> without_effect;
  std::uint64_t rows = 0;
  LogTime zero;

  const Job& job(std::uint32_t at) const { return jobs.jobs[JobId{at}]; }
  const Shape& shape(std::uint32_t at) const { return jobs.shape(JobId{at}); }
  std::string name(std::uint32_t at) const { return jobs.name(job(at).name); }
  std::string queue(std::uint32_t at) const { return jobs.name(job(at).queue); }
  /// How many rows were left out for the reason.
  std::uint64_t left(std::string_view reason) const;
};

/// Of a file. `keys`: JSON of the format's keys.
ReadLog read_log_file(std::string_view format, const std::string& path, std::string_view keys = "{}",
                      LogSelection selection = {}, const std::vector<std::string>& gpu_types = {});
/// Of a file with that text.
ReadLog read_log(std::string_view format, std::string_view text, std::string_view keys = "{}",
                 LogSelection selection = {}, const std::vector<std::string>& gpu_types = {});
/// A file that is there as long as this.
class FileOfText {
 public:
  FileOfText(std::string_view name, std::string_view text);
  ~FileOfText();
  FileOfText(const FileOfText&) = delete;
  FileOfText& operator=(const FileOfText&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// "LINE CODE" of the problems that reading it meets, with commas between.
std::string problems_of_log(std::string_view format, std::string_view text, std::string_view keys = "{}",
                            const std::vector<std::string>& gpu_types = {});

}  // namespace athanor
