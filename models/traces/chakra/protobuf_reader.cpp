#include <chakra.pb.h>
#include <fmt/core.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "models/traces/chakra/node.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// What protobuf reads from: our source, which knows gzip and says what is wrong.
class Pages : public google::protobuf::io::CopyingInputStream {
 public:
  explicit Pages(ByteSource& source) : source_(source) {}
  int Read(void* buffer, int size) override {
    return static_cast<int>(source_.read(static_cast<char*>(buffer), static_cast<std::size_t>(size)));
  }

 private:
  ByteSource& source_;
};

/// Beyond 64 bits: a number that is refused wherever one counts.
std::int64_t whole(double number) {
  constexpr double kEnd = 9.2e18;
  return number > -kEnd && number < kEnd ? static_cast<std::int64_t>(number) : INT64_MIN;
}

std::int64_t whole(const chakra::Attribute& attribute) {
  using Attribute = chakra::Attribute;
  switch (attribute.value_case()) {
    case Attribute::kDoubleValue: return whole(attribute.double_value());
    case Attribute::kFloatValue: return whole(double{attribute.float_value()});
    case Attribute::kInt32Value: return attribute.int32_value();
    case Attribute::kInt64Value: return attribute.int64_value();
    case Attribute::kUint32Value: return attribute.uint32_value();
    case Attribute::kUint64Value: return static_cast<std::int64_t>(attribute.uint64_value());
    case Attribute::kSint32Value: return attribute.sint32_value();
    case Attribute::kSint64Value: return attribute.sint64_value();
    case Attribute::kFixed32Value: return attribute.fixed32_value();
    case Attribute::kFixed64Value: return static_cast<std::int64_t>(attribute.fixed64_value());
    case Attribute::kSfixed32Value: return attribute.sfixed32_value();
    case Attribute::kSfixed64Value: return attribute.sfixed64_value();
    case Attribute::kBoolValue: return attribute.bool_value() ? 1 : 0;
    case Attribute::kBoolList:
    case Attribute::kStringValue:
    case Attribute::kStringList:
    case Attribute::VALUE_NOT_SET: return 0;
  }
  return 0;
}

void take_attribute(const chakra::Attribute& attribute, ChakraNode& node) {
  if (attribute.name() == "pg_name") {
    node.group = attribute.has_string_value() ? attribute.string_value() : std::to_string(whole(attribute));
  } else if (attribute.name() == "involved_dim") {
    for (const bool dimension : attribute.bool_list().values()) { node.some_dimensions |= !dimension; }
  } else {
    node.set(attribute.name(), whole(attribute));
  }
}

void convert(const chakra::Node& message, ChakraNode& node) {
  node.id = message.id();
  node.name = message.name();
  node.type = message.type();
  node.waits_for.assign(message.data_deps().begin(), message.data_deps().end());
  node.waits_for.insert(node.waits_for.end(), message.ctrl_deps().begin(), message.ctrl_deps().end());
  node.duration_us = message.duration_micros();
  node.inputs = message.inputs().values();
  node.cpu = node.some_dimensions = false;
  node.operations = node.collective_type = node.size = node.from = node.to = std::nullopt;
  node.tensor_size = node.tag = node.root = 0;
  node.group.clear();
  for (const chakra::Attribute& attribute : message.attributes()) { take_attribute(attribute, node); }
}

[[noreturn]] void fail(const ByteSource& source, std::string what) {
  throw ScenarioError(
      Problem{"truncated", std::move(what), {source.path(), 0, 0, ""}, "was it cut off, or is it of another format?"});
}

}  // namespace

bool reads_chakra_protobuf() { return true; }

void read_chakra_protobuf(ByteSource& source, const TakeChakraNode& take) {
  namespace util = google::protobuf::util;
  // It would write to stderr of names that are no UTF-8, once for each; they are shown with their bytes escaped.
  const google::protobuf::LogSilencer silence;
  Pages pages(source);
  google::protobuf::io::CopyingInputStreamAdaptor stream(&pages, 1 << 18);
  bool ended = false;
  chakra::GlobalMetadata metadata;
  if (!util::ParseDelimitedFromZeroCopyStream(&metadata, &stream, &ended)) {
    fail(source, ended ? "the file is empty" : "the file does not begin like a Chakra trace");
  }
  chakra::Node message;  // its memory is used again
  ChakraNode node;
  for (std::uint64_t count = 1; util::ParseDelimitedFromZeroCopyStream(&message, &stream, &ended); ++count) {
    convert(message, node);
    take(node);
    message.Clear();
    node.inputs.clear();
    if (count == UINT32_MAX) { fail(source, "the file has more than 4294967295 nodes"); }
  }
  if (!ended) { fail(source, fmt::format("the file ends within a node, behind that with id {}", node.id)); }
}

}  // namespace athanor
