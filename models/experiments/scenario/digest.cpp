#include "models/experiments/scenario/digest.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

class Sha256 {
 public:
  Sha256() { require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is there"); }

  void add(const char* bytes, std::size_t count) {
    require(EVP_DigestUpdate(context_.get(), bytes, count) == 1, "SHA-256 takes {} bytes", count);
  }
  std::string text() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1, "SHA-256 ends");
    std::string text = "sha256:";
    for (unsigned i = 0; i < length; ++i) { text += fmt::format("{:02x}", digest[i]); }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

}  // namespace

std::string text_hash(const std::string& text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.text();
}

std::string file_hash(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) { throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno))); }
  Sha256 hash;
  std::vector<char> block(std::size_t{1} << 20U);
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), file.get())) > 0;) {
    hash.add(block.data(), got);
  }
  if (std::ferror(file.get()) != 0) {
    throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  return hash.text();
}

}  // namespace athanor
