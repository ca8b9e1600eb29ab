#include <array>
#include <functional>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/byte_source.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

using nlohmann::json;

enum class AttemptsAre : std::uint8_t { sum, last };

/// The characters of a file, in turn, and the line of the present one.
class Characters {
 public:
  explicit Characters(const std::string& path) : source_(path, Bytes{std::int64_t{1} << 36}) { refill(); }

  bool ended() const { return size_ == 0; }
  char front() const { return buffer_[at_]; }
  void next() {
    line_ += buffer_[at_] == '\n' ? 1 : 0;
    if (++at_ == size_) { refill(); }
  }
  int line() const { return line_; }

 private:
  void refill() {
    at_ = 0;
    size_ = source_.read(buffer_.data(), buffer_.size());
  }

  ByteSource source_;
  std::array<char, 1U << 16U> buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  int line_ = 1;
};

/// What the parser walks with.
class CharacterIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CharacterIterator() = default;
  explicit CharacterIterator(Characters& from) : from_(&from) {}

  char operator*() const { return from_->front(); }
  CharacterIterator& operator++() {
    from_->next();
    return *this;
  }
  void operator++(int) { from_->next(); }
  bool operator==(const CharacterIterator& other) const { return ended() == other.ended(); }
  bool operator!=(const CharacterIterator& other) const { return !(*this == other); }

 private:
  bool ended() const { return from_ == nullptr || from_->ended(); }

  Characters* from_ = nullptr;
};

/// One time on nodes.
struct Attempt {
  std::string start;
  std::string end;
  std::int64_t gpus = 0;
};

struct PhillyJob {
  std::string id;
  std::string user;
  std::string queue;
  std::string submitted;
  std::vector<Attempt> attempts;
  int line = 0;
};

/// Follows the parser through a list of jobs, and hands on each when it ends. Depths: 1 the list, 2 a job, 3 its
/// attempts, 4 an attempt, 5 its detail, 6 a node, 7 the node's GPUs.
class PhillyReader final : public json::json_sax_t {
 public:
  /// `other`: is told the line of each element of the list that is no object.
  PhillyReader(const Characters& at, std::function<void(const PhillyJob&)> found, std::function<void(int)> other)
      : at_(at), found_(std::move(found)), other_(std::move(other)) {}

  bool is_list() const { return list_; }
  const std::string& error() const { return error_; }

  bool null() override { return take_other(); }
  bool boolean(bool) override { return take_other(); }
  bool number_integer(number_integer_t) override { return take_other(); }
  bool number_unsigned(number_unsigned_t) override { return take_other(); }
  bool number_float(number_float_t, const string_t&) override { return take_other(); }
  bool binary(binary_t&) override { return take_other(); }
  bool string(string_t& value) override {
    if (depth_ == 1) { return take_other(); }
    if (depth_ == 2) {
      if (std::string* target = job_field()) { target->swap(value); }
    } else if (depth_ == 4 && in_attempts_ && key_ == "start_time") {
      job_.attempts.back().start.swap(value);
    } else if (depth_ == 4 && in_attempts_ && key_ == "end_time") {
      job_.attempts.back().end.swap(value);
    } else if (depth_ == 7 && in_attempts_ && in_detail_ && key_ == "gpus") {
      ++job_.attempts.back().gpus;
    }
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 2) { in_attempts_ = value == "attempts"; }
    if (depth_ == 4) { in_detail_ = value == "detail"; }
    key_.swap(value);
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 2) {
      job_ = {};
      job_.line = at_.line();
    }
    if (depth_ == 4 && in_attempts_) { job_.attempts.emplace_back(); }
    return list_;
  }
  bool end_object() override {
    if (depth_-- == 2) { found_(job_); }
    return true;
  }
  bool start_array(std::size_t) override {
    take_other();
    list_ = true;
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    error_ = error.what();
    return false;
  }

 private:
  bool take_other() {
    if (depth_ == 1) { other_(at_.line()); }
    return true;
  }
  std::string* job_field() {
    if (key_ == "jobid") { return &job_.id; }
    if (key_ == "user") { return &job_.user; }
    if (key_ == "vc") { return &job_.queue; }
    return key_ == "submitted_time" ? &job_.submitted : nullptr;
  }

  const Characters& at_;
  std::function<void(const PhillyJob&)> found_;
  std::function<void(int)> other_;
  PhillyJob job_;
  std::string key_;
  std::string error_;
  int depth_ = 0;
  bool list_ = false;
  bool in_attempts_ = false;
  bool in_detail_ = false;
};

}  // namespace

/// cluster_job_log of Microsoft's Philly (ATC 2019). Times are local ones there, and taken as they are written.
struct PhillyLog final : LogFormat {
  static constexpr std::string_view kName = "philly";
  static constexpr std::string_view kMeaning = "cluster_job_log (JSON) of Philly; the virtual cluster is the queue";

  void visit(Fields& fields) override {
    fields.optional("attempts", attempts_, "A job runs as long as all its attempts, or as its last one",
                    {{"sum", AttemptsAre::sum}, {"last", AttemptsAre::last}});
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    Characters characters(path);
    const auto take = [&](const PhillyJob& found) {
      LoggedJob job;
      const std::string_view reason = read_job(found, job);
      if (reason.empty()) { return log.add(job); }
      log.leave_out(reason, {path, found.line, 0, ""});
    };
    PhillyReader reader(characters, take, [&](int line) { log.leave_out("it is no object", {path, line, 0, ""}); });
    const bool whole = json::sax_parse(CharacterIterator(characters), CharacterIterator(), &reader);
    if (!reader.is_list()) {
      throw ScenarioError({"not-philly", "this is no list of jobs", {path, 1, 0, ""}, "cluster_job_log begins with ["});
    }
    if (!whole) {
      throw ScenarioError(
          {"syntax", fmt::format("this is no JSON: {}", reader.error()), {path, characters.line(), 0, ""}, ""});
    }
  }

 private:
  std::string_view read_job(const PhillyJob& found, LoggedJob& job) const {
    if (found.attempts.empty()) { return "it has no attempt"; }
    const Attempt& last = found.attempts.back();
    LoggedTimes times;
    times.submitted = date_of(found.submitted);
    times.started = date_of(found.attempts.front().start);
    times.ended = date_of(last.end);
    WallTime sum;
    for (const Attempt& attempt : found.attempts) {
      if (attempts_ == AttemptsAre::last && &attempt != &last) { continue; }
      const auto start = date_of(attempt.start);
      const auto end = date_of(attempt.end);
      if (!start || !end) { return "an attempt has no start or no end"; }
      if (*end < *start) { return "it ends before it starts"; }
      sum += *end - *start;
    }
    times.ran = sum;
    job.name = found.id;
    job.user = found.user;
    job.queue = found.queue;
    const std::string_view reason = set_shape(job, last.gpus, {}, TasksOf::gpus);
    return reason.empty() ? set_times(job, times) : reason;
  }

  AttemptsAre attempts_ = AttemptsAre::sum;
};

template LogFormatEntry log_format_entry_of<PhillyLog>();

}  // namespace athanor
