#include "maxmargin/model/file/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/sample_model.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::file_test {
namespace {

using sample::Storage;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The text with a checksum that fits, as somebody would make it who wants it to be loaded.
std::string signed_again(std::string text) {
  text.resize(text.size() - 33);
  return text + checksum(bytes_of(text)) + "\n";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) text.replace(at, what.size(), with);
  return text;
}

Fault fault_of(const std::string& text) {
  try {
    from_bytes(bytes_of(text), "m");
  } catch (const Error& error) {
    EXPECT_EQ(error.place().file, "m");
    return error.fault();
  }
  ADD_FAILURE() << "loaded";
  return Fault::usage;
}

void expect_same(const Model& one, const Model& other) {
  // The bytes hold every member, so equal bytes are equal models.
  EXPECT_EQ(to_bytes(one), to_bytes(other));
  EXPECT_EQ(digest(one), digest(other));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ModelFile, EveryListedKernelComesBackTheSame) {
  for_each_component<Kernel>([](auto kernel) {
    Rng rng(3);
    for_each_field(kernel, [&](const auto& declared, auto& value) {
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_floating_point_v<Value>)
        value = declared.range.contains(0.1) ? 0.1 + rng.uniform() / 3 : value;
      else if constexpr (std::is_enum_v<Value>)
        value = static_cast<Value>(1);
    });
    for (const Storage storage : sample::all_storage) {
      const Model model = sample::classifier(kernel, 3, Multiclass::one_vs_one, storage);
      const std::string bytes = to_bytes(model);
      const Model back = from_bytes(bytes_of(bytes), "m");
      expect_same(model, back);
      ASSERT_EQ(back.kernel.index(), model.kernel.index());
      auto& loaded = std::get<decltype(kernel)>(back.kernel);
      for_each_field(kernel, [&](const auto& declared, const auto& value) {
        EXPECT_EQ(value, loaded.*(declared.member)) << declared.name;
      });
      EXPECT_EQ(back.support.is_sparse(), model.support.is_sparse());
      EXPECT_EQ(back.support.view().floats == nullptr, model.support.view().floats == nullptr);
    }
  });
}

TEST(ModelFile, EveryMemberComesBack) {
  Model model = sample::classifier(Rbf{0.1}, 3, Multiclass::one_vs_rest, Storage::sparse_double);
  model.numeric_classes = false;
  model.classes = {"a \"quoted\" name", std::string("\xff\x00\xfe raw", 7), "größer\n"};
  model.feature_names = {"a", "b", "", "\x80", "e"};
  model.scaling.kind = ScalingKind::deviation;
  model.scaling.offset = {0, 1, -0.0, 1e-310, 0.1};
  model.scaling.factor = {1e300, 2, 3, 1.0 / 3, 5};
  model.task.reset();
  model.options = {{"task", "svc"}, {"class-weight -1", "2"}, {"class-weight -1", "\xc3"}};
  model.data_hash = "abc";
  Certificate& certificate = model.machines[1].certificate;
  certificate.primal = infinity;
  certificate.dual = -infinity;
  certificate.kkt = std::numeric_limits<double>::quiet_NaN();
  certificate.gap = 0.1 + 0.2;
  certificate.rounding = std::numeric_limits<double>::denorm_min();
  certificate.best_dual = -0.0;
  certificate.mercer = false;
  model.machines[2].lambda.clear();
  model.machines[2].ended = Ended::time_limit;
  model.machines[2].iterations = std::numeric_limits<std::uint64_t>::max();

  const Model back = from_bytes(bytes_of(to_bytes(model)), "m");
  expect_same(model, back);
  EXPECT_EQ(back.classes, model.classes);
  EXPECT_EQ(back.feature_names, model.feature_names);
  EXPECT_EQ(back.options, model.options);
  EXPECT_EQ(back.scaling.kind, model.scaling.kind);
  EXPECT_EQ(back.scaling.offset, model.scaling.offset);
  EXPECT_EQ(back.scaling.factor, model.scaling.factor);
  EXPECT_EQ(back.seed, model.seed);
  EXPECT_EQ(back.rows, model.rows);
  EXPECT_EQ(back.program, model.program);
  EXPECT_EQ(back.support_row, model.support_row);
  EXPECT_FALSE(back.numeric_classes);
  const Certificate& loaded = back.machines[1].certificate;
  EXPECT_EQ(loaded.primal, infinity);
  EXPECT_EQ(loaded.dual, -infinity);
  EXPECT_TRUE(std::isnan(loaded.kkt));
  EXPECT_EQ(loaded.gap, certificate.gap);
  EXPECT_EQ(loaded.rounding, certificate.rounding);
  EXPECT_TRUE(std::signbit(loaded.best_dual));
  EXPECT_FALSE(loaded.mercer);
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(back.machines[m].coefficient, model.machines[m].coefficient);
    EXPECT_EQ(back.machines[m].support, model.machines[m].support);
    EXPECT_EQ(back.machines[m].lambda, model.machines[m].lambda);
    EXPECT_EQ(back.machines[m].ended, model.machines[m].ended);
    EXPECT_EQ(back.machines[m].iterations, model.machines[m].iterations);
  }
}

TEST(ModelFile, WhatNuChoseAndProbabilitiesComeBack) {
  Model classes = sample::classifier(Rbf{}, 3, Multiclass::one_vs_one, Storage::dense_float);
  const std::string before = digest(classes);
  classes.machines[1].width = 1.0 / 3;
  EXPECT_EQ(digest(classes), before);
  sample::calibrate(classes);
  EXPECT_NE(digest(classes), before);
  Model number = sample::single(Rbf{}, Outcome::number, Storage::sparse_double);
  number.machines[0].width = 1e-300;
  sample::calibrate(number);
  for (const Model* model : {&classes, &number}) {
    const Model back = from_bytes(bytes_of(to_bytes(*model)), "m");
    expect_same(*model, back);
    EXPECT_EQ(back.calibration.folds, 5);
    EXPECT_EQ(back.calibration.weight, model->calibration.weight);
    EXPECT_EQ(back.calibration.noise, model->calibration.noise);
    EXPECT_EQ(back.calibration.marks, model->calibration.marks);
    EXPECT_EQ(back.calibration.sigmoid, model->calibration.sigmoid);
    for (std::size_t m = 0; m < model->machines.size(); ++m)
      EXPECT_EQ(back.machines[m].width, model->machines[m].width);
  }
}

TEST(ModelFile, ProbabilitiesThatDoNotFitAreRefused) {
  Model model = sample::classifier(Rbf{}, 3, Multiclass::one_vs_one, Storage::dense_float);
  sample::calibrate(model);
  model.calibration.sigmoid[2].slope = infinity;
  EXPECT_THROW(to_bytes(model), Error);
  model.calibration.sigmoid.pop_back();
  EXPECT_THROW(to_bytes(model), Error);
  Model number = sample::single(Rbf{}, Outcome::number, Storage::dense_float);
  sample::calibrate(number);
  number.calibration.marks[0] = 5;
  EXPECT_THROW(to_bytes(number), Error);
  number.calibration.marks.clear();
  number.calibration.noise = -1;
  EXPECT_THROW(to_bytes(number), Error);
  number.calibration.noise = 0;
  EXPECT_NO_THROW(to_bytes(number));
  number.machines[0].width = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(to_bytes(number), Error);
}

TEST(ModelFile, AModelWithoutSupportVectorsComesBack) {
  Model model;
  model.outcome = Outcome::number;
  model.machines.resize(1);
  model.machines[0].lambda = {3};
  expect_same(model, from_bytes(bytes_of(to_bytes(model)), "m"));
  model.support = Features::sparse(0);
  expect_same(model, from_bytes(bytes_of(to_bytes(model)), "m"));
}

TEST(ModelFile, EveryTruncationIsRefused) {
  const std::string bytes =
      to_bytes(sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::sparse_float));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(fault_of(bytes.substr(0, size)), Fault::data) << size;
  EXPECT_EQ(fault_of(bytes + "x"), Fault::data);
  EXPECT_EQ(fault_of(signed_again(bytes + std::string(8, '\0'))), Fault::data);
}

TEST(ModelFile, EveryChangedByteIsRefused) {
  const std::string bytes =
      to_bytes(sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    ASSERT_EQ(fault_of(changed), Fault::data) << i;
  }
}

// With a checksum made to fit, a change may give another model, but a consistent one, or an Error.
TEST(ModelFile, SignedDamageGivesAModelOrAnError) {
#ifdef MAXMARGIN_SANITIZED
  constexpr std::size_t trials = 400;  // the fuzz target goes on with it
#else
  constexpr std::size_t trials = 2000;
#endif
  Rng rng(5);
  std::size_t loaded = 0;
  for (const Storage storage : sample::all_storage) {
    Model whole = sample::classifier(DistanceRbf{}, 3, Multiclass::one_vs_one, storage);
    if (storage == Storage::dense_float) sample::calibrate(whole);
    const std::string bytes = to_bytes(whole);
    for (std::size_t trial = 0; trial < trials; ++trial) {
      std::string changed = bytes;
      for (std::uint64_t n = rng.below(3) + 1; n > 0; --n) {
        char& at = changed[rng.below(changed.size())];
        at = rng.uniform() < 0.5 ? static_cast<char>(rng.next())
                                 : "0123456789,.[]{}\"-e"[rng.below(19)];
      }
      changed = signed_again(std::move(changed));
      try {
        const Model model = from_bytes(bytes_of(changed), "m");
        expect_same(model, from_bytes(bytes_of(to_bytes(model)), "m"));
        ++loaded;
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::data);
      }
    }
  }
  EXPECT_GT(loaded, trials / 20);
}

TEST(ModelFile, RandomBytesAreRefused) {
  Rng rng(6);
  for (int trial = 0; trial < 1000; ++trial) {
    std::string bytes = trial % 2 == 0 ? "maxmargin model 1\nheader " : "";
    for (std::uint64_t n = rng.below(200); n > 0; --n) bytes += static_cast<char>(rng.next());
    EXPECT_EQ(fault_of(bytes), Fault::data);
    EXPECT_EQ(fault_of(signed_again(bytes + std::string(33, '.'))), Fault::data);
  }
}

TEST(ModelFile, HeadersThatLieAreRefused) {
  const Model model = sample::classifier(Rbf{}, 3, Multiclass::one_vs_one, Storage::sparse_float);
  const std::string good = to_bytes(model);
  const auto refused = [&](const std::string& what, const std::string& with) {
    ASSERT_EQ(what.size(), with.size());
    EXPECT_EQ(fault_of(signed_again(replaced(good, what, with))), Fault::data) << with;
  };
  EXPECT_EQ(from_bytes(bytes_of(signed_again(good)), "m").machines.size(), 3u);
  refused("maxmargin model 1", "maxmargin model 2");
  refused("\"vectors\":12", "\"vectors\":11");
  refused("\"vectors\":12", "\"vectors\":-1");
  refused("\"vectors\":12", "\"vectors\":9.");
  refused("\"vectors\":12", "\"vectors\":[]");
  refused("\"rbf\"", "\"rbg\"");
  refused("\"gamma\":1.0", "\"gamma\":-.0");
  refused("\"gamma\":1.0", "\"gamma\":0.0");
  refused("\"little\"", "\"LITTLE\"");
  refused("\"one-vs-one\"", "\"one-vs-two\"");
  refused("\"one-vs-one\"", "\"one-vs-one ");
  refused("\"classes\": [\"0\",\"1\",\"2\"]", "\"classes\": [\"0\",\"1\",\"1\"]");
  refused("\"classes\": [\"0\",\"1\",\"2\"]", "\"classes\": [\"0\",\"1\",\"x\"]");
  refused("\"positive\": [0,0,1]", "\"positive\": [0,0,3]");
  refused("\"positive\": [0,0,1]", "\"positive\": [0,0,0]");
  refused("\"positive\": [0,0,1]", "\"positive\": [0,11] ");
  refused("\"features\": 5", "\"features\": 4");
  refused("\"rows\": 36", "\"rows\": 30");
  refused("\"seed\": 18364758544493064720", "\"seed\": 1836475854449306472e");
  refused("\"seed\": 18364758544493064720", "\"seed\": 98364758544493064720");
}

TEST(ModelFile, DeepNestingIsRefused) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  std::string text = "maxmargin model 1\nheader " + std::to_string(deep.size()) + "\n" + deep;
  EXPECT_EQ(fault_of(text + checksum(bytes_of(text)) + "\n"), Fault::data);
}

TEST(ModelFile, ForgedSectionsAreRefused) {
  const auto refused = [](auto&& damage) {
    Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::sparse_double);
    const std::string good = to_bytes(model);
    std::string bad = good;
    damage(bad);
    EXPECT_NE(good, bad);
    EXPECT_EQ(fault_of(signed_again(bad)), Fault::data);
  };
  // The sections end with one u32 per support vector of the only machine, then the checksum.
  const auto last_position = [](std::string& bytes, std::size_t from_end) {
    return bytes.data() + bytes.size() - 33 - 4 * (from_end + 1);
  };
  refused([&](std::string& bytes) { *last_position(bytes, 0) = 12; });  // out of range
  refused([&](std::string& bytes) { *last_position(bytes, 3) = 11; });  // not increasing
  refused([&](std::string& bytes) { *last_position(bytes, 12) = 5; });  // feature too large
  const auto overwrite = [](std::string& bytes, double what, double with) {
    const std::string from(reinterpret_cast<const char*>(&what), sizeof what);
    bytes = replaced(bytes, from, std::string(reinterpret_cast<const char*>(&with), sizeof with));
  };
  const Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::sparse_double);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([&](std::string& b) { overwrite(b, model.machines[0].coefficient[2], nan); });
  refused([&](std::string& b) { overwrite(b, model.machines[0].lambda[0], infinity); });
  refused([&](std::string& b) { overwrite(b, model.support.view().doubles[4], -infinity); });
}

TEST(ModelFile, AScalingMayListItsFeatures) {
  Model model = sample::classifier(Rbf{0.1}, 2, Multiclass::one_vs_one, Storage::sparse_float);
  model.scaling = {ScalingKind::range, {0.5, 0.1}, {2, 3}, {1, 4}};
  const std::string bytes = to_bytes(model);
  EXPECT_EQ(bytes.substr(0, 18), "maxmargin model 3\n");
  const Model back = from_bytes(bytes_of(bytes), "m");
  expect_same(model, back);
  EXPECT_EQ(back.scaling.feature, model.scaling.feature);
  const std::uint32_t in_order[] = {1, 4}, unsorted[] = {4, 1};
  const auto text = [](const std::uint32_t* list) {
    return std::string(reinterpret_cast<const char*>(list), 2 * sizeof *list);
  };
  EXPECT_EQ(fault_of(signed_again(replaced(bytes, text(in_order), text(unsorted)))), Fault::data);
  EXPECT_EQ(fault_of(signed_again(replaced(bytes, "model 3", "model 1"))), Fault::data);
  const std::string known = digest(model);
  model.scaling.feature = {0, 4};
  EXPECT_NE(digest(model), known);
  for (const std::vector<Index>& bad : {std::vector<Index>{1, 5}, {4, 1}, {4, 4}, {1}, {1, 2, 4}}) {
    model.scaling.feature = bad;
    EXPECT_THROW(to_bytes(model), Error);
  }
  model.scaling = {ScalingKind::range, {}, {}, {1}};
  EXPECT_THROW(to_bytes(model), Error);
}

TEST(ModelFile, NewerVersionIsNamed) {
  try {
    from_bytes(bytes_of(std::string("maxmargin model 7\nheader 10\n")), "m");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("version 7"), std::string::npos);
  }
}

TEST(ModelFile, InconsistentModelsAreNotWritten) {
  Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float);
  model.machines[0].coefficient.pop_back();
  EXPECT_THROW(to_bytes(model), Error);
  const TemporaryFolder directory;
  EXPECT_THROW(save(model, directory / "m"), Error);
  EXPECT_EQ(directory.files(), 0u);
}

TEST(ModelFile, DigestTellsPredictionsApart) {
  const auto make = [](Storage storage) {
    return sample::classifier(Rbf{0.5}, 3, Multiclass::one_vs_one, storage);
  };
  const Model model = make(Storage::dense_float);
  EXPECT_EQ(digest(model).size(), 32u);
  EXPECT_EQ(digest(model), digest(make(Storage::sparse_float)));
  Model other = make(Storage::dense_float);
  other.machines[0].certificate.kkt = 7;
  other.machines[0].iterations = 1;
  other.options.clear();
  EXPECT_EQ(digest(model), digest(other));
  other.machines[0].lambda[0] = std::nextafter(other.machines[0].lambda[0], 9.0);
  EXPECT_NE(digest(model), digest(other));
  other = make(Storage::dense_float);
  other.kernel = Rbf{0.25};
  EXPECT_NE(digest(model), digest(other));
}

TEST(ModelFile, SavesAndLoads) {
  const TemporaryFolder directory;
  const Model model = sample::classifier(Rbf{}, 4, Multiclass::one_vs_one, Storage::sparse_float);
  save(model, directory / "m");
  expect_same(model, load(directory / "m"));
  EXPECT_EQ(content_of(directory / "m"), to_bytes(model));
  EXPECT_EQ(directory.files(), 1u);
}

TEST(ModelFile, ReplacesAFileAndKeepsItsPermissionsAndLink) {
  const TemporaryFolder directory;
  std::ofstream(directory / "real") << "old";
  chmod((directory / "real").c_str(), 0640);
  std::filesystem::create_symlink("real", directory / "link");
  const Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float);
  save(model, directory / "link");
  EXPECT_EQ(directory.files(), 2u);
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  expect_same(model, load(directory / "real"));
  struct stat status {};
  stat((directory / "real").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(ModelFile, UnwritablePathsAreInputOutputErrors) {
  const TemporaryFolder directory;
  const Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float);
  for (const std::string& path :
       {directory / "absent/m", directory / "", std::string("/dev/full")}) {
    try {
      save(model, path);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::io);
      EXPECT_EQ(error.place().file, path);
    }
  }
  EXPECT_EQ(directory.files(), 0u);
  struct stat status {};
  stat("/dev/full", &status);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

// A limit on the size of files stands for a full disk: both let a write end early. The child does
// nothing but save and tell by its exit code what it saw.
TEST(ModelFile, AFullDiskKeepsTheOldFile) {
  const TemporaryFolder directory;
  const Model old = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float);
  save(old, directory / "m");
  const std::string before = content_of(directory / "m");
  const Model large =
      sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_double, 400, 50);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{50000, 50000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      save(large, directory / "m");
    } catch (const Error& error) {
      code = error.fault() == Fault::io ? 0 : 2;
    }
    _exit(code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(content_of(directory / "m"), before);
  EXPECT_EQ(directory.files(), 1u);
}

TEST(ModelFile, UnreadablePathsAreInputOutputErrors) {
  const TemporaryFolder directory;
  for (const std::string& path : {directory / "absent", directory / ""}) {
    try {
      load(path);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::io);
    }
  }
  std::ofstream(directory / "empty").flush();
  std::ofstream(directory / "text") << "+1 1:0.5\n";
  for (const char* name : {"empty", "text"}) {
    try {
      load(directory / name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_EQ(error.place().file, directory / name);
    }
  }
}

}  // namespace
}  // namespace maxmargin::file_test
