#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// A time of a case that something else than assay took.
struct ForeignTime {
  std::string id;  ///< id of a timed row; empty: `op` and `shape` say which rows are meant
  std::string op;  ///< with `shape`: that of the op's first tensor, "1x64x128x128"
  std::string shape;
  std::string params;  ///< "N=4096 group=128": parameters that such rows have; empty: any
  std::string cache;   ///< "hot" or "cold": only such rows; empty: any
  double us = 0;       ///< time of one program, > 0
  std::string source;  ///< who measured, on what; free text, may be empty
  std::string place;   ///< "peers.csv:3" or "peers.json: entry 2", for messages
};

/// Reads a file of times: CSV (RFC 4180) with a header, or a JSON array of objects; the columns, or keys, are
/// those of ForeignTime: `us`, and `id` or `op` and `shape`. Throws Error that names the place and what is
/// wrong: an unknown or missing column, a time that is no positive number, no time at all.
std::vector<ForeignTime> read_times(const std::filesystem::path& file);

struct ImportOptions {
  std::filesystem::path file;  ///< see read_times()
  std::string name;            ///< of what was measured: "PyTorch 2.11". Reports show it as a device
  std::filesystem::path rows;  ///< a report with the timed rows that the file's times are of
  std::filesystem::path out = "assay-out";
};

/// Writes a report of times that something else took, as of one more device, for pivot, compare, summary and
/// the page. A row of it has the time alone: it was not judged, and has no interval. Entries of the file
/// without a row are listed. Throws Error(Usage) if no entry has a row, or if two entries have the same one.
ExitCode import_times(const ImportOptions& options, const Context& context, const Terminal& terminal);

}  // namespace assay::app
