#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/random.hpp"

namespace athanor::fuzz {

/// How the files of a format are taken apart before they are changed.
enum class Form { json, text, bytes };

/// A shipped file, from which others are made.
struct Seed {
  std::string path;
  std::string content;  ///< decompressed
};

/// So many changes of one seed, one after the other; equal for equal states of `random`. `others`: seeds of the same
/// reader, from which pieces are taken.
std::string mutated(const Seed& seed, std::span<const Seed> others, Form form, unsigned changes, RandomStream& random);

/// What one format's changes are made of; each changes `content` once.
void change_json(std::string& content, std::span<const Seed> others, unsigned changes, RandomStream& random);
void change_text(std::string& content, std::span<const Seed> others, RandomStream& random);
void change_bytes(std::string& content, std::span<const Seed> others, RandomStream& random);

/// A number or word that readers tend to stumble over.
std::string_view extreme_word(RandomStream& random);
/// The first number in `word` changed: by one, doubled, negated, to a limit, or with another unit behind it.
std::string changed_word(std::string_view word, RandomStream& random);

}  // namespace athanor::fuzz
