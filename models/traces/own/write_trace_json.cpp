#include <fmt/core.h>

#include "models/traces/own/trace_json.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

std::string quoted(const std::string& text) { return text_of(JsonValue(text)); }

std::string groups_text(const std::shared_ptr<const EndpointGroups>& groups) {
  std::string text = "[";
  for (const auto& group : *groups) { text += fmt::format("{}[{}]", text.size() > 1 ? ", " : "", joined(group, ", ")); }
  return text + "]";
}

class JsonWriter {
 public:
  JsonWriter(const Workload& workload, const std::function<void(std::string_view)>& write)
      : workload_(workload), write_(write) {}

  void run() {
    write_("{\"athanor_trace\": 1,\n");
    list("communicators", workload_.communicators.size(), [&](std::size_t i) { communicator(i); });
    list("channels", workload_.channels.size(), [&](std::size_t i) { channel(i); });
    write_(" \"workers\": [\n");
    for (std::size_t i = 0; i < workload_.workers.size(); ++i) {
      worker(workload_.workers[i]);
      write_(i + 1 < workload_.workers.size() ? ",\n" : "\n");
    }
    write_(" ]}\n");
  }

 private:
  template <class Write>
  void list(const char* key, std::size_t count, const Write& each) {
    if (count == 0) { return; }
    write_(fmt::format(" \"{}\": [\n", key));
    for (std::size_t i = 0; i < count; ++i) {
      each(i);
      write_(i + 1 < count ? ",\n" : "\n");
    }
    write_(" ],\n");
  }

  void communicator(std::size_t index) {
    const Workload::Communicator& each = workload_.communicators[index];
    write_(fmt::format(R"(  {{"name": {}, "use": "{}", "workers": [{}], "groups": {}}})", quoted(each.name),
                       name(each.use), joined(each.workers, ", "), groups_text(each.groups)));
  }

  void channel(std::size_t index) {
    const Workload::Channel& each = workload_.channels[index];
    write_(fmt::format(R"(  {{"name": {}, "use": "{}", "from": {}, "to": {}, "pairs": {}{}}})", quoted(each.name),
                       name(each.use), each.from, each.to, groups_text(each.pairs),
                       each.eager ? R"(, "eager": true)" : ""));
  }

  void worker(const Workload::Worker& each) {
    write_(fmt::format(R"(  {{"name": {}, "ranks": {}, "streams": [)", quoted(each.name), each.ranks));
    for (std::size_t i = 0; i < each.streams.size(); ++i) {
      write_(fmt::format(R"({}{{"name": {}{}{}}})", i > 0 ? ", " : "", quoted(each.streams[i].name),
                         each.streams[i].ordered ? "" : R"(, "ordered": false)",
                         each.streams[i].host ? R"(, "host": true)" : ""));
    }
    write_("], \"operations\": [\n");
    for (std::size_t i = 0; i < each.operations.size(); ++i) {
      write_(operation(each, each.operations[i]));
      write_(i + 1 < each.operations.size() ? ",\n" : "\n");
    }
    write_("  ]}");
  }

  std::string operation(const Workload::Worker& worker, const Workload::Operation& each) const {
    std::string text = "   {" + what(each);
    if (each.stream > 0) { text += fmt::format(R"(, "stream": {})", each.stream); }
    if (!workload_.labels[each.label].empty()) { text += R"(, "label": )" + quoted(workload_.labels[each.label]); }
    if (each.dependencies > 0) {
      const auto first = worker.dependencies.begin() + each.first_dependency;
      text += fmt::format(R"(, "after": [{}])", joined(std::span(first, each.dependencies), ", "));
    }
    return text + "}";
  }

  std::string what(const Workload::Operation& each) const {
    switch (each.kind) {
      case Workload::Kind::compute: return fmt::format(R"("kind": "compute", "time": "{}")", to_string(each.time));
      case Workload::Kind::call: return call(workload_.calls[each.subject]);
      case Workload::Kind::send:
        return fmt::format(R"("kind": "send", "channel": {}, "size": "{} B")", each.subject, each.size.count());
      case Workload::Kind::receive:
        return fmt::format(R"("kind": "receive", "channel": {}, "size": "{} B")", each.subject, each.size.count());
      case Workload::Kind::mark: return R"("kind": "mark")";
    }
    return "";
  }

  static std::string call(const Workload::Call& each) {
    std::string text =
        fmt::format(R"("kind": "call", "communicator": {}, "collective": "{}")", each.communicator, name(each.kind));
    if (each.kind == CollectiveKind::barrier) { return text; }
    // Numbers of 4 bits with their scales need not fill whole elements of the type that they are multiplied in.
    const bool whole = each.size % size_of(each.type) == Bytes::zero();
    text +=
        fmt::format(R"(, "size": "{} B", "type": "{}")", each.size.count(), name(whole ? each.type : DataType::int8));
    if (each.root > 0) { text += fmt::format(R"(, "root": {})", each.root); }
    if (each.imbalance > 1) { text += fmt::format(R"(, "imbalance": {})", each.imbalance); }
    return text;
  }

  const Workload& workload_;
  const std::function<void(std::string_view)>& write_;
};

}  // namespace

void write_trace_json(const Workload& workload, const std::function<void(std::string_view)>& write) {
  JsonWriter(workload, write).run();
}

}  // namespace athanor
