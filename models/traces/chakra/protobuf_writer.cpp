#include <chakra.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "models/traces/chakra/node.hpp"

namespace athanor {

namespace {

void append(const google::protobuf::MessageLite& message, std::string& text) {
  google::protobuf::io::StringOutputStream stream(&text);
  google::protobuf::util::SerializeDelimitedToZeroCopyStream(message, &stream);
}

chakra::Attribute& add_attribute(const char* name, chakra::Node& message) {
  chakra::Attribute& attribute = *message.add_attributes();
  attribute.set_name(name);
  return attribute;
}

/// With the types that ASTRA-sim's feeder takes: sizes and kinds are int64, ranks and tags int32.
void add_communication(const ChakraNode& node, chakra::Node& message) {
  if (node.collective_type) { add_attribute("comm_type", message).set_int64_value(*node.collective_type); }
  if (node.size) { add_attribute("comm_size", message).set_int64_value(*node.size); }
  if (!node.group.empty()) { add_attribute("pg_name", message).set_string_value(node.group); }
  if (node.root > 0) { add_attribute("root_rank", message).set_int32_value(static_cast<std::int32_t>(node.root)); }
  if (!node.from || !node.to) { return; }
  add_attribute("comm_src", message).set_int32_value(static_cast<std::int32_t>(*node.from));
  add_attribute("comm_dst", message).set_int32_value(static_cast<std::int32_t>(*node.to));
  add_attribute("comm_tag", message).set_int32_value(static_cast<std::int32_t>(node.tag));
}

}  // namespace

std::string chakra_protobuf_head() {
  chakra::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  std::string text;
  append(metadata, text);
  return text;
}

void append_chakra_protobuf(const ChakraNode& node, std::string& text) {
  chakra::Node message;
  message.set_id(node.id);
  message.set_name(node.name);
  message.set_type(node.type);
  for (const std::uint64_t other : node.waits_for) { message.add_data_deps(other); }
  message.set_duration_micros(node.duration_us);
  if (!node.inputs.empty()) { message.mutable_inputs()->set_values(node.inputs); }
  add_attribute("is_cpu_op", message).set_bool_value(node.cpu);
  add_communication(node, message);
  append(message, text);
}

}  // namespace athanor
