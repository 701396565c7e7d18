#include "maxmargin/data/disk/row_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/base/start_thread.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin {
namespace {

// What O_DIRECT asks of addresses, offsets and lengths, on every file system there is.
constexpr std::size_t page = 4096;
// One call to the system reads this much: large enough for the full speed of a disk.
constexpr std::size_t bytes_of_one_read = std::size_t{8} << 20;
constexpr std::size_t fewest_rows = 64;

std::size_t up_to_page(std::size_t bytes) { return (bytes + page - 1) / page * page; }

/// Memory as O_DIRECT wants it.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes)
      : data_(static_cast<char*>(std::aligned_alloc(page, std::max(page, up_to_page(bytes)))),
              &std::free) {
    if (!data_) throw std::bad_alloc();
  }
  char* data() const { return data_.get(); }

 private:
  std::unique_ptr<char, decltype(&std::free)> data_;
};

std::string in_megabytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

template <class Number>
void spread(const Rows& rows, Number* to) {
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) {
      to[i * rows.columns + feature] = static_cast<Number>(value);
    });
}

}  // namespace

std::string scratch_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

RowFile::RowFile(const std::string& folder, std::size_t chunk_bytes)
    : folder_(folder), chunk_bytes_(chunk_bytes) {
  open(folder);
}

RowFile::~RowFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RowFile::open(const std::string& folder) {
  constexpr int plain = O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC;
  descriptor_ = ::open(folder.c_str(), plain | O_DIRECT, 0600);
  direct_ = descriptor_ >= 0;
  if (!direct_) descriptor_ = ::open(folder.c_str(), plain, 0600);
  if (descriptor_ < 0) {
    // A file system without O_TMPFILE: a name, for a moment.
    std::string name = folder + "/maxmargin-" + std::string(6, 'X');
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ >= 0) ::unlink(name.c_str());
  }
  if (descriptor_ < 0)
    throw Error(Fault::io, {folder, 0, 0},
                std::string("no scratch file can be made here: ") + std::strerror(errno),
                "name another folder for it (--scratch)");
  if (!direct_) ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::size_t RowFile::label_bytes(std::size_t rows) const {
  return (weighted_ ? 2 : 1) * rows * sizeof(double);
}

std::size_t RowFile::largest_chunk_bytes() const {
  std::size_t largest = 0;
  for (const Chunk& chunk : chunks_) largest = std::max(largest, chunk.bytes);
  return largest;
}

void RowFile::append(const Rows& x, std::span<const double> label, std::span<const double> weight) {
  if (rows_per_chunk_ == 0) {
    weighted_ = !weight.empty();
    const std::size_t row_bytes = x.columns * sizeof(float) + label_bytes(1);
    rows_per_chunk_ = std::max(fewest_rows, chunk_bytes_ / row_bytes / fewest_rows * fewest_rows);
    pending_ = none_like(x);
  }
  columns_ = std::max(columns_, x.columns);
  for (std::size_t at = 0; at < x.count;) {
    const std::size_t count = std::min(x.count - at, rows_per_chunk_ - pending_.count());
    pending_.append(x.slice(at, at + count));
    const auto part = [&](std::vector<double>& to, std::span<const double> from) {
      const auto some = from.subspan(at, count);
      to.insert(to.end(), some.begin(), some.end());
    };
    part(label_, label);
    if (weighted_) part(weight_, weight);
    at += count;
    if (pending_.count() == rows_per_chunk_) flush();
  }
}

void RowFile::finish() {
  if (pending_.count() > 0) flush();
}

void RowFile::flush() {
  const Rows rows = pending_;
  const bool doubles = !all_exact_floats(rows);
  const std::size_t values = rows.count * rows.columns * (doubles ? sizeof(double) : sizeof(float));
  const std::size_t bytes = up_to_page(label_bytes(rows.count) + values);
  const AlignedBytes buffer(bytes);
  std::memset(buffer.data(), 0, bytes);
  std::memcpy(buffer.data(), label_.data(), rows.count * sizeof(double));
  if (weighted_)
    std::memcpy(buffer.data() + label_bytes(rows.count) / 2, weight_.data(),
                rows.count * sizeof(double));
  char* at = buffer.data() + label_bytes(rows.count);
  if (doubles)
    spread(rows, reinterpret_cast<double*>(at));
  else
    spread(rows, reinterpret_cast<float*>(at));
  write(buffer.data(), bytes);
  chunks_.push_back({bytes_, bytes, rows_, rows.count, rows.columns, doubles});
  bytes_ += bytes;
  rows_ += rows.count;
  label_.clear();
  weight_.clear();
  pending_ = none_like(pending_, columns_);
}

void RowFile::write(const char* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count =
        ::pwrite(descriptor_, from + done, bytes - done, static_cast<off_t>(bytes_ + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    const int reason = count == 0 ? ENOSPC : errno;
    throw Error(Fault::io, {folder_, 0, 0},
                "the scratch file cannot grow beyond " + in_megabytes(bytes_) + " after " +
                    std::to_string(rows_) + " rows: " + std::strerror(reason),
                "make room, or name another folder for it (--scratch)");
  }
}

void RowFile::load(std::uint64_t offset, std::size_t bytes, char* to) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = ::pread(descriptor_, to + done, std::min(bytes - done, bytes_of_one_read),
                                  static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    throw Error(Fault::io, {folder_, 0, 0},
                count == 0
                    ? "the scratch file was cut short: it ends at " + in_megabytes(offset + done) +
                          " and should have " + in_megabytes(bytes_)
                    : std::string("the scratch file cannot be read: ") + std::strerror(errno),
                "check the disk, and start again");
  }
}

RowChunk RowFile::view(std::size_t number, const char* at) const {
  const Chunk& chunk = chunks_[number];
  RowChunk result;
  result.number = number;
  result.first_row = chunk.first_row;
  result.rows = chunk.rows;
  result.columns = chunk.columns;
  result.label = reinterpret_cast<const double*>(at);
  if (weighted_) result.weight = result.label + chunk.rows;
  const char* values = at + label_bytes(chunk.rows);
  if (chunk.doubles)
    result.doubles = reinterpret_cast<const double*>(values);
  else
    result.floats = reinterpret_cast<const float*>(values);
  return result;
}

/// Two buffers that a reading thread fills and the caller empties, in turn.
class RowFile::Pipeline {
 public:
  Pipeline(const RowFile& file, std::size_t at_once)
      : file_(file),
        at_once_(at_once),
        buffers_{AlignedBytes(at_once * file.largest_chunk_bytes()),
                 AlignedBytes(at_once * file.largest_chunk_bytes())},
        reader_(start_thread([this] { fill(); })) {}

  ~Pipeline() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    reader_.join();
  }

  /// The next chunks; none: the end. Those given out before are gone.
  std::vector<RowChunk> next() {
    const Stopwatch clock;
    std::unique_lock lock(mutex_);
    if (given_ > 0) full_[(given_ - 1) % 2] = false;
    changed_.notify_all();
    if (given_ == groups()) return {};
    changed_.wait(lock, [&] { return full_[given_ % 2] || failure_; });
    if (!full_[given_ % 2]) std::rethrow_exception(failure_);
    traffic_.waiting += clock.seconds();
    const std::size_t begin = given_ * at_once_;
    const std::size_t end = std::min(file_.chunks(), begin + at_once_);
    std::vector<RowChunk> chunks;
    for (std::size_t k = begin; k < end; ++k)
      chunks.push_back(file_.view(
          k, buffers_[given_ % 2].data() + file_.chunks_[k].offset - file_.chunks_[begin].offset));
    ++given_;
    return chunks;
  }

  Traffic traffic() const {
    const std::lock_guard lock(mutex_);
    return traffic_;
  }

 private:
  std::size_t groups() const { return (file_.chunks() + at_once_ - 1) / at_once_; }

  void fill() noexcept {
    for (std::size_t group = 0; group < groups(); ++group) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !full_[group % 2] || ending_; });
      if (ending_) return;
      lock.unlock();
      const Chunk& first = file_.chunks_[group * at_once_];
      const Chunk& last = file_.chunks_[std::min(file_.chunks(), (group + 1) * at_once_) - 1];
      const std::size_t bytes = last.offset + last.bytes - first.offset;
      const Stopwatch clock;
      std::exception_ptr failure;
      try {
        file_.load(first.offset, bytes, buffers_[group % 2].data());
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      traffic_.bytes += bytes;
      traffic_.reading += clock.seconds();
      failure_ = failure;
      full_[group % 2] = !failure;
      lock.unlock();
      changed_.notify_all();
      if (failure) return;
    }
  }

  const RowFile& file_;
  const std::size_t at_once_;
  AlignedBytes buffers_[2];
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool full_[2] = {false, false};
  bool ending_ = false;
  std::exception_ptr failure_;
  std::size_t given_ = 0;
  Traffic traffic_;
  std::thread reader_;
};

RowFile::Traffic RowFile::read(std::size_t at_once, const Body& body) const {
  Pipeline pipeline(*this, at_once);
  for (;;) {
    const std::vector<RowChunk> chunks = pipeline.next();
    if (chunks.empty() || !body(chunks)) return pipeline.traffic();
  }
}

void RowFile::read_labels(const LabelBody& body) const {
  for (const Chunk& chunk : chunks_) {
    const std::size_t bytes = std::min(chunk.bytes, up_to_page(label_bytes(chunk.rows)));
    const AlignedBytes buffer(bytes);
    load(chunk.offset, bytes, buffer.data());
    const auto* label = reinterpret_cast<const double*>(buffer.data());
    body({label, chunk.rows}, weighted_ ? label + chunk.rows : nullptr);
  }
}

}  // namespace maxmargin
