#pragma once

#include <string>

#include "models/serving/served_request.hpp"

namespace athanor {

/// Reads recorded requests, CSV with a line of names (other columns do not matter), compressed or not, or JSON lines:
///
/// - TIMESTAMP, ContextTokens, GeneratedTokens: Azure's LLM inference traces of 2023 and 2024 (AzurePublicDataset); the
///   timestamp is a date and a time, to seven digits of a second, with an offset from UTC or none
/// - timestamp, input_length, output_length: Mooncake's traces (FAST 2025), a JSON object on each line, the timestamp
/// in
///   milliseconds
/// - arrival, prompt, output: seconds and tokens
///
/// The first arrives at 0. A request that generated nothing counts as one of one token. Throws FileError; ScenarioError
/// with the line of what cannot be read, or arrives before the one above it.
ServedRequests read_request_trace(const std::string& path);

}  // namespace athanor
