#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/software/profile.hpp"
#include "models/traces/kineto/event_sink.hpp"
#include "models/traces/kineto/recorded_calls.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// The bytes of a source as an input iterator, which a parser reads without the whole text in memory.
class Characters {
 public:
  explicit Characters(ByteSource& source) : source_(source), buffer_(kBuffered, '\0') { fill(); }
  bool ended() const { return at_ == end_; }
  char now() const { return buffer_[at_]; }
  void next() {
    if (++at_ == end_) { fill(); }
  }

 private:
  static constexpr std::size_t kBuffered = 1U << 18U;
  void fill() {
    at_ = 0;
    end_ = source_.read(buffer_.data(), buffer_.size());
  }

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

struct CharacterIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Characters* characters = nullptr;  ///< nullptr: the end

  char operator*() const { return characters->now(); }
  CharacterIterator& operator++() {
    characters->next();
    return *this;
  }
  CharacterIterator operator++(int) {
    characters->next();
    return *this;
  }
  bool operator==(const CharacterIterator& other) const { return at_end() == other.at_end(); }
  bool operator!=(const CharacterIterator& other) const { return !(*this == other); }

 private:
  bool at_end() const { return characters == nullptr || characters->ended(); }
};

/// Times of profiles count from 1970 or from a start of the machine: half of what 64 bits hold leaves room for sums.
constexpr std::int64_t kMostMicroseconds = INT64_MAX / 2000;

/// "1234.567" microseconds as nanoseconds, digit by digit: a double has too few of them. None: no such number.
std::optional<ProfileTime> nanoseconds(std::string_view text) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() ||
        std::abs(number) > static_cast<double>(kMostMicroseconds)) {
      return std::nullopt;
    }
    return static_cast<ProfileTime>(number * 1e3);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view behind = text.substr(std::min(point + 1, text.size()));
  if (!std::all_of(behind.begin(), behind.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return std::nullopt;
  }
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + point, whole);
  if (error != std::errc() || end != text.data() + point) { return std::nullopt; }
  std::int64_t fraction = 0;
  for (std::size_t i = 1; i <= 3; ++i) {
    const bool there = point + i < text.size();
    fraction = fraction * 10 + (there ? text[point + i] - '0' : 0);
  }
  if (whole > kMostMicroseconds || whole < -kMostMicroseconds) { return std::nullopt; }
  whole *= 1000;
  return text.starts_with('-') ? whole - fraction : whole + fraction;
}

/// Follows the parser: events are objects of the list "traceEvents" of the root; what they did is in their "args".
class ProfileHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ProfileHandler(GpuProfile& profile) : profile_(profile), sink_(profile) {}

  bool events_seen() const { return events_seen_; }
  const std::string& error() const { return error_; }
  /// What could be read has a value that cannot be right.
  bool wrong() const { return wrong_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > INT64_MAX && counts()) { return fail(fmt::format("'{}' is {}", key_, value)); }
    return number(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (where_ != Where::event || (key_ != "ts" && key_ != "dur")) { return true; }
    const auto time = nanoseconds(text);
    return time ? set_time(*time) : fail("a time is '" + text + "'");
  }
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override;
  bool key(string_t& value) override {
    key_.swap(value);
    return true;
  }
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override {
    --depth_;
    if (where_ == Where::events && depth_ == 1) { where_ = Where::root; }
    if (where_ == Where::groups && depth_ == 2) { where_ = Where::distributed; }
    if (where_ == Where::group_ranks) {
      where_ = Where::group;
      group_ranks_ += "]";
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    error_ = fmt::format("at byte {}: {}", position, error.what());
    return false;
  }

 private:
  enum class Where : std::uint8_t { root, events, event, args, distributed, groups, group, group_ranks };

  /// Identifiers may be any 64 bits; all else that is read is a quantity.
  bool counts() const {
    return inside_ == 0 && where_ != Where::root && key_.find("orrelation") == std::string::npos &&
           key_.find("xternal id") == std::string::npos && key_.find("corr_id") == std::string::npos;
  }
  /// Of the group of an event's collective. False: it is wrong, and why is told.
  bool check_group();
  bool number(std::int64_t value);
  void number_of_args(std::int64_t value);
  bool set_time(ProfileTime time) {
    (key_ == "ts" ? event_.start : event_.duration) = time;
    timed_ |= key_ == "ts" ? 1U : 2U;
    return true;
  }
  void text_of_args(std::string& value);
  bool fail(const std::string& error) {
    const bool of_event = where_ == Where::event || where_ == Where::args;
    wrong_ = true;
    error_ = of_event ? fmt::format("event {} of traceEvents{}: {}", event_number_,
                                    event_.name.empty() ? "" : fmt::format(" ('{}')", event_.name), error)
                      : error;
    return false;
  }

  GpuProfile& profile_;
  EventSink sink_;
  Where where_ = Where::root;
  int depth_ = 0;
  int inside_ = 0;  ///< depth of something that is of no interest, with all in it
  bool events_seen_ = false;
  bool wrong_ = false;
  std::uint64_t event_number_ = 0;
  unsigned timed_ = 0;
  std::string key_;
  std::string error_;
  ProfileEvent event_;
  std::string group_name_;
  std::string group_ranks_;
};

bool ProfileHandler::number(std::int64_t value) {
  if (inside_ > 0) { return true; }
  switch (where_) {
    case Where::event:
      if (key_ == "ts" || key_ == "dur") {
        if (value > kMostMicroseconds || value < -kMostMicroseconds) {
          return fail(fmt::format("a time is {}", value));
        }
        return set_time(value * 1000);
      }
      return true;
    case Where::args: number_of_args(value); return true;
    case Where::distributed:
      if ((key_ == "rank" && (value < 0 || value >= kMostTraceRanks)) ||
          (key_ == "world_size" && (value < 1 || value > kMostTraceRanks))) {
        return fail(fmt::format("distributedInfo has {} {}; up to {} ranks are read", key_, value, kMostTraceRanks));
      }
      if (key_ == "rank") { profile_.rank = static_cast<std::uint32_t>(value); }
      if (key_ == "world_size") { profile_.world = static_cast<std::uint32_t>(value); }
      if (profile_.rank && profile_.world && *profile_.rank >= *profile_.world) {
        return fail(fmt::format("it is of rank {} of {}", *profile_.rank, *profile_.world));
      }
      return true;
    case Where::group_ranks:
      group_ranks_ += fmt::format("{}{}", group_ranks_.size() > 1 ? ", " : "", value);
      return true;
    case Where::root:
    case Where::events:
    case Where::groups:
    case Where::group: return true;
  }
  return true;
}

void ProfileHandler::number_of_args(std::int64_t value) {
  RecordedCollective& collective = event_.collective;
  if (key_ == "correlation") {
    event_.correlation = static_cast<std::uint64_t>(value);
  } else if (key_ == "External id" || key_ == "external id") {
    event_.external = static_cast<std::uint64_t>(value);
  } else if (key_ == "stream") {
    event_.stream = value;
  } else if (key_ == "device") {
    event_.device = value;
  } else if (key_ == "In msg nelems") {
    collective.in_elements = value;
  } else if (key_ == "Out msg nelems") {
    collective.out_elements = value;
  } else if (key_ == "Group size") {
    collective.group_size = value;
  } else if (key_ == "Src Rank") {
    collective.from = value;
  } else if (key_ == "Dst Rank") {
    collective.to = value;
  } else if (key_ == "Root Rank" || key_ == "Root rank") {
    collective.root = value;
  } else if (key_ == "Process Group Name") {
    collective.group = std::to_string(value);
  } else if (key_ == "wait_on_stream") {
    event_.waits_for = value;
  } else if (key_ == "wait_on_cuda_event_record_corr_id") {
    event_.recorded_by = static_cast<std::uint64_t>(value);
  }
}

void ProfileHandler::text_of_args(std::string& value) {
  RecordedCollective& collective = event_.collective;
  if (key_ == "Collective name") {
    collective.name.swap(value);
  } else if (key_ == "dtype") {
    collective.type.swap(value);
  } else if (key_ == "Process Group Name") {
    collective.group.swap(value);
  } else if (key_ == "Process Group Description") {
    collective.description.swap(value);
  } else if (key_ == "Process Group Ranks") {
    collective.ranks.swap(value);
  } else if (key_ == "In split size") {
    collective.in_split.swap(value);
  } else if (key_ == "Out split size") {
    collective.out_split.swap(value);
  } else {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size()) { number_of_args(number); }
  }
}

bool ProfileHandler::check_group() {
  const RecordedCollective& collective = event_.collective;
  if (collective.group_size > kMostTraceRanks) {
    return fail(fmt::format("'Group size' is {}; up to {} ranks are read", collective.group_size, kMostTraceRanks));
  }
  const std::string why = fault_of_ranks(collective.ranks);
  return why.empty() || fail(fmt::format("'Process Group Ranks': {}", why));
}

bool ProfileHandler::string(string_t& value) {
  if (inside_ > 0) { return true; }
  if (where_ == Where::event) {
    if (key_ == "ph") { event_.phase.swap(value); }
    if (key_ == "cat") { event_.category.swap(value); }
    if (key_ == "name") { event_.name.swap(value); }
    if (key_ == "ts" || key_ == "dur") {
      const auto time = nanoseconds(value);
      return time ? set_time(*time) : fail("a time is '" + value + "'");
    }
  } else if (where_ == Where::args) {
    text_of_args(value);
  } else if (where_ == Where::group) {
    if (key_ == "pg_name") { group_name_.swap(value); }
    if (key_ == "ranks") { group_ranks_.swap(value); }
  }
  return true;
}

bool ProfileHandler::start_object(std::size_t) {
  ++depth_;
  if (inside_ > 0) { return true; }
  if (where_ == Where::root && depth_ == 1) { return true; }
  if (where_ == Where::root && key_ == "distributedInfo") {
    where_ = Where::distributed;
  } else if (where_ == Where::events) {
    where_ = Where::event;
    event_ = {};
    event_.collective.event = ++event_number_;
    timed_ = 0;
  } else if (where_ == Where::event && key_ == "args") {
    where_ = Where::args;
  } else if (where_ == Where::groups) {
    where_ = Where::group;
    group_name_.clear();
    group_ranks_.clear();
  } else {
    inside_ = depth_;
  }
  return true;
}

bool ProfileHandler::end_object() {
  const int depth = depth_--;
  if (inside_ > 0) {
    if (inside_ == depth) { inside_ = 0; }
    return true;
  }
  if (where_ == Where::args) {
    where_ = Where::event;
  } else if (where_ == Where::event) {
    if (!check_group()) { return false; }
    where_ = Where::events;
    event_.timed = timed_ == 3U;
    sink_.take(event_);
  } else if (where_ == Where::group) {
    where_ = Where::groups;
    if (const std::string why = fault_of_ranks(group_ranks_); !why.empty()) {
      return fail(fmt::format("process group '{}': {}", group_name_, why));
    }
    profile_.groups[group_name_] = group_ranks_;
  } else if (where_ == Where::distributed) {
    where_ = Where::root;
  }
  return true;
}

bool ProfileHandler::start_array(std::size_t) {
  ++depth_;
  if (inside_ > 0) { return true; }
  if (where_ == Where::root && key_ == "traceEvents") {
    where_ = Where::events;
    events_seen_ = true;
  } else if (where_ == Where::distributed && key_ == "pg_config") {
    where_ = Where::groups;
  } else if (where_ == Where::group && key_ == "ranks") {
    where_ = Where::group_ranks;
    group_ranks_ = "[";
  }
  return true;
}

}  // namespace

GpuProfile read_profile(ByteSource& source) {
  GpuProfile profile;
  profile.file = source.path();
  ProfileHandler handler(profile);
  Characters characters(source);
  const bool whole = nlohmann::json::sax_parse(CharacterIterator{&characters}, CharacterIterator{}, &handler);
  if (!whole) {
    throw ScenarioError(Problem{handler.wrong() ? "out-of-range" : "syntax",
                                fmt::format("this profile cannot be read: {}", handler.error()),
                                {source.path(), 0, 0, ""},
                                handler.wrong() ? "" : "was it cut off while being written or copied?"});
  }
  if (!handler.events_seen()) {
    throw ScenarioError(Problem{
        "missing-key", "a profile of PyTorch is an object with a list 'traceEvents'", {source.path(), 0, 0, ""}, ""});
  }
  return profile;
}

}  // namespace athanor
