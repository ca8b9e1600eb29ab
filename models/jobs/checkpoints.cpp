#include "models/jobs/checkpoints.hpp"

#include <algorithm>
#include <cmath>

#include "sim/config/fields.hpp"

namespace athanor {

namespace {

using Rule = CheckpointRules::Rule;

WallTime nearest(double microseconds) { return WallTime{std::max<std::int64_t>(1, std::llround(microseconds))}; }

double young(double write, double mttf) { return std::sqrt(2 * write * mttf); }

/// T = sqrt(2 w M) (1 + sqrt(w / 2M) / 3 + (w / 2M) / 9) - w for w < 2M, else M.
double daly(double write, double mttf) {
  if (write >= 2 * mttf) { return mttf; }
  const double part = write / (2 * mttf);
  return young(write, mttf) * (1 + std::sqrt(part) / 3 + part / 9) - write;
}

void visit(Fields& fields, MemoryCheckpoints& memory) {
  fields.required("interval", memory.interval, "Work between two of them", {WallTime{1}});
  fields.optional("write", memory.write, "A job stands still so long for each");
  fields.optional("persist", memory.persist, "Beside its work, until all copies are there");
  fields.optional("restore", memory.restore, "A job that begins again from one takes so long");
  fields.optional("copies", memory.copies, "Of the part of each node, one of them on itself", {1, 1024});
  fields.optional("group", memory.group, "Nodes that keep copies for each other; absent: as many as copies");
  if (!fields.ok()) { return; }
  if (memory.persist > memory.interval) {
    fields.problem("persist", "conflict", "copies take longer to arrive than it is until the next ones",
                   "make \"interval\" at least as long");
  }
  if (memory.group > 0 && memory.group < memory.copies) {
    fields.problem("group", "conflict", "copies are on different nodes of a group",
                   "make \"group\" at least as large as \"copies\", or leave it out");
  }
}

void check_memory(Fields& fields, const CheckpointRules& rules) {
  if (rules.memory && rules.rule == Rule::fixed && rules.memory->interval >= rules.interval) {
    fields.problem("memory", "no-effect", "checkpoints in memory are no more frequent than those that are written",
                   "make their \"interval\" shorter, or leave \"memory\" out");
  }
  if (rules.restore > WallTime::zero() && rules.rule == Rule::none) {
    fields.problem("restore", "no-effect", "no checkpoint is written that could be read", "leave it out");
  }
}

}  // namespace

void visit(Fields& fields, CheckpointRules& rules) {
  fields.optional("rule", rules.rule, "How often they are written",
                  {{"none", Rule::none},
                   {"fixed", Rule::fixed},
                   {"young", Rule::young},
                   {"daly", Rule::daly},
                   {"optimal", Rule::optimal}});
  fields.optional_or("interval", rules.interval, WallTime{}, "Work between two of them, of a fixed rule",
                     {WallTime{1}});
  fields.optional("write", rules.write, "A job stands still so long for each");
  fields.optional("persist", rules.persist, "Beside its work, until it can be used");
  fields.optional_or("storage", rules.storage, std::string(),
                     "Where they are written to, which sets how long a job stands still");
  fields.optional("restore", rules.restore, "A job that begins again from one takes so long");
  fields.optional_object("memory", rules.memory, "Beside them, checkpoints in the memory of a job's nodes",
                         [](Fields& f, MemoryCheckpoints& memory) { visit(f, memory); });
  fields.optional("bytes", rules.bytes, "Of each, of jobs without \"parameters\"", {Bytes{1}});
  fields.optional_or("bytes_per_parameter", rules.bytes_per_parameter, Ratio{14, 1},
                     "Of a checkpoint; absent: 2 of weights in mixed precision and 12 of Adam's state",
                     {Ratio{1, 1000}, Ratio{1000, 1}});
  if (!fields.ok()) { return; }
  if (rules.rule == Rule::none && rules.interval > WallTime::zero()) { rules.rule = Rule::fixed; }
  if ((rules.rule == Rule::fixed) != (rules.interval > WallTime::zero())) {
    fields.problem("interval", "conflict", "a fixed rule, and no other, has an interval above 0",
                   R"(write "interval": "30min", or "rule": "daly" without it)");
  }
  if (rules.rule == Rule::fixed && rules.persist > rules.interval) {
    fields.problem("persist", "conflict", "a checkpoint takes longer to persist than it is until the next one",
                   "make \"interval\" at least as long");
  }
  check_memory(fields, rules);
  const bool computed = rules.rule != Rule::none && rules.rule != Rule::fixed;
  const bool to_storage = !rules.storage.empty();
  if (to_storage && std::max({rules.write, rules.persist, rules.restore}) > WallTime::zero()) {
    fields.problem("storage", "conflict", "the storage sets how long writing and reading takes",
                   R"(leave out "write", "persist" and "restore", or "storage")");
  }
  if (!to_storage && (rules.bytes || fields.has("bytes_per_parameter"))) {
    fields.problem("", "conflict", "how large checkpoints are matters only where they go to a storage",
                   R"(write "storage", the name of one)");
  }
  if (to_storage && rules.rule == Rule::none) {
    fields.problem("storage", "conflict", "no checkpoint is written", R"(write "interval", or "rule": "daly")");
  }
  if (computed && !to_storage && rules.write == WallTime::zero()) {
    fields.problem("write", "missing-key", "what costs nothing would be done all the time",
                   R"(say what a checkpoint costs, as in "write": "30s")");
  }
}

WallTime optimal_interval(WallTime write, WallTime mttf) {
  // f(t) = ln(1 - t) + t + w with t = T / M, w = write / M: falls from w at t = 0 to minus infinity at 1.
  const double w = static_cast<double>(write.count()) / static_cast<double>(mttf.count());
  double low = 0;
  double high = 1;
  for (int step = 0; step < 60; ++step) {
    const double t = (low + high) / 2;
    (std::log1p(-t) + t + w > 0 ? low : high) = t;
  }
  return nearest(low * static_cast<double>(mttf.count()));
}

WallTime interval_of(const CheckpointRules& rules, WallTime mttf) {
  const auto write = static_cast<double>(rules.write.count());
  const auto mean = static_cast<double>(mttf.count());
  WallTime interval = WallTime::max();
  switch (rules.rule) {
    case Rule::none: return WallTime::max();
    case Rule::fixed: interval = rules.interval; break;
    case Rule::young:
    case Rule::daly:
    case Rule::optimal:
      if (mttf == WallTime::max()) { return WallTime::max(); }
      interval = rules.rule == Rule::young  ? nearest(young(write, mean))
                 : rules.rule == Rule::daly ? nearest(daly(write, mean))
                                            : optimal_interval(rules.write, mttf);
      break;
  }
  return std::max(interval, rules.persist);
}

}  // namespace athanor
