#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <exception>
#include <new>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/source.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 17;
constexpr std::size_t output_bytes = std::size_t{1} << 18;
// Bytes of output for each byte of a small archive; more is unpacked in several rounds.
constexpr std::size_t usual_growth = 16;

[[noreturn]] void truncated(const std::string& name, std::string_view kind) {
  throw Error(Fault::data, {name, 0, 0}, "the " + std::string(kind) + " archive is truncated",
              "copy or download it again");
}

[[noreturn]] void damaged(const std::string& name, std::string_view kind, const char* why) {
  throw Error(Fault::data, {name, 0, 0},
              "the " + std::string(kind) + " archive is damaged" +
                  (why == nullptr ? "" : " (" + std::string(why) + ")"),
              "copy or download it again");
}

/// Unpacks into a buffer of its own, so that what is given out before a fault does not depend on
/// how much the reader asks for at a time.
class Unpacker : public Source {
 public:
  explicit Unpacker(std::unique_ptr<Source> packed)
      : Source(packed->name()), packed_(std::move(packed)) {
    input_.resize_for_overwrite(packed_->room(input_bytes));
    output_.resize_for_overwrite(std::min(output_bytes, usual_growth * input_.size()));
  }

 protected:
  /// The next packed bytes.
  std::string_view refill() { return {input_.data(), packed_->read(input_.data(), input_.size())}; }

 private:
  /// Unpacks until the output is full; less only at the end. Counts what it has unpacked in `size`
  /// even if it throws.
  virtual void unpack(std::span<char> output, std::size_t& size) = 0;

  std::size_t take(char* to, std::size_t most) override {
    if (at_ == size_) {
      if (failure_) std::rethrow_exception(failure_);
      at_ = size_ = 0;
      try {
        unpack({output_.data(), output_.size()}, size_);
      } catch (...) {
        failure_ = std::current_exception();
        if (size_ == 0) throw;
      }
    }
    const std::size_t size = std::min(most, size_ - at_);
    std::copy_n(output_.data() + at_, size, to);
    at_ += size;
    return size;
  }

  std::unique_ptr<Source> packed_;
  Buffer<char> input_, output_;
  std::size_t at_ = 0, size_ = 0;
  std::exception_ptr failure_;
};

/// Any number of gzip members, one after the other; zeros may follow (tapes pad with them).
class GzipSource final : public Unpacker {
 public:
  explicit GzipSource(std::unique_ptr<Source> packed) : Unpacker(std::move(packed)) {
    // 16: a gzip header is required.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }

 private:
  void more_input() {
    const std::string_view input = refill();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    input_ended_ = input.empty();
  }

  /// Goes on to the next member; false at the end of the archive.
  bool next_member() {
    while (true) {
      if (stream_.avail_in == 0) more_input();
      if (input_ended_) return false;
      if (*stream_.next_in != 0) break;
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (inflateReset(&stream_) != Z_OK) damaged(name(), "gzip", stream_.msg);
    return true;
  }

  void unpack(std::span<char> output, std::size_t& size) override {
    while (!done_ && size < output.size()) {
      if (stream_.avail_in == 0) more_input();
      stream_.next_out = reinterpret_cast<Bytef*>(output.data() + size);
      stream_.avail_out = static_cast<uInt>(output.size() - size);
      const int state = inflate(&stream_, Z_NO_FLUSH);
      size = output.size() - stream_.avail_out;
      if (state == Z_STREAM_END) {
        done_ = !next_member();
      } else if (state == Z_BUF_ERROR) {
        if (input_ended_) truncated(name(), "gzip");
      } else if (state == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (state != Z_OK) {
        damaged(name(), "gzip", stream_.msg);
      }
    }
  }

  z_stream stream_{};
  bool input_ended_ = false;
  bool done_ = false;
};

/// Any number of zstd frames, one after the other.
class ZstdSource final : public Unpacker {
 public:
  explicit ZstdSource(std::unique_ptr<Source> packed) : Unpacker(std::move(packed)) {
    if (!context_) throw std::bad_alloc();
  }

 private:
  void unpack(std::span<char> output, std::size_t& size) override {
    while (size < output.size()) {
      if (in_.pos == in_.size) {
        const std::string_view input = refill();
        in_ = {input.data(), input.size(), 0};
      }
      if (in_.size == 0 && !inside_frame_) return;
      ZSTD_outBuffer out{output.data(), output.size(), size};
      const std::size_t state = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(state)) fail(state);
      inside_frame_ = state != 0;
      if (in_.size == 0 && out.pos == size && inside_frame_) truncated(name(), "zstd");
      size = out.pos;
    }
  }

  [[noreturn]] void fail(std::size_t state) {
    if (ZSTD_getErrorCode(state) == ZSTD_error_frameParameter_windowTooLarge)
      throw Error(Fault::data, {name(), 0, 0}, "the zstd archive needs more than 128 MB to unpack",
                  "pack it again without --long or --ultra");
    damaged(name(), "zstd", ZSTD_getErrorName(state));
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_frame_ = false;
};

bool starts_zstd(std::string_view head) {
  if (head.size() < 4) return false;
  return head.substr(0, 4) == "\x28\xb5\x2f\xfd" ||
         // A frame to skip, as parallel compressors put in front.
         ((head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18");
}

}  // namespace

std::unique_ptr<Source> unpacked(std::unique_ptr<Source> packed) {
  const std::string_view head = packed->peek(6);
  if (head.starts_with("\x1f\x8b")) return std::make_unique<GzipSource>(std::move(packed));
  if (starts_zstd(head)) return std::make_unique<ZstdSource>(std::move(packed));
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"BZh", "a bzip2 archive"},
      {std::string_view("\xfd"
                        "7zXZ\0",
                        6),
       "an xz archive"},
      {"PK\x03\x04", "a zip archive"},
      {"7z\xbc\xaf", "a 7z archive"}};
  for (const auto& [magic, kind] : others)
    if (head.starts_with(magic))
      throw Error(Fault::data, {packed->name(), 0, 0}, "is " + std::string(kind),
                  "unpack it first (gzip and zstd are read as they are)");
  return packed;
}

}  // namespace maxmargin
