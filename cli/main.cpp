#include "cli/program.hpp"

int main(int argc, char** argv) { return maxmargin::cli::run_program(argc, argv); }
