# Most of the time of a compiler goes into reading headers. With MAXMARGIN_TOGETHER some sources of a
# room are read as one, so that this happens once and not for each of them: less time for a build
# from nothing, more for one after a change.
option(MAXMARGIN_TOGETHER "Compile the sources of a room together" OFF)

# compile_together(TARGET MOST DEPTH SOURCE...): no more than MOST in one, of folders whose paths begin
# with the same DEPTH names. Sources with options of their own and those that Highway reads once for
# each kind of vector stay apart.
function(compile_together target most depth)
  if(NOT MAXMARGIN_TOGETHER)
    return()
  endif()
  # What one source hides from others its neighbours see.
  target_compile_options(${target} PRIVATE -Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    file(STRINGS ${source} of_vectors REGEX "HWY_NAMESPACE" LIMIT_COUNT 1)
    if(NOT of_vectors)
      file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR} ${source})
      get_filename_component(room ${room} DIRECTORY)
      string(REPLACE "/" ";" room ${room})
      list(SUBLIST room 0 ${depth} room)
      string(MAKE_C_IDENTIFIER "${room}" room)
      math(EXPR count_${room} "${count_${room}} + 1")
      math(EXPR group "(${count_${room}} - 1) / ${most}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${group})
    endif()
  endforeach()
endfunction()

# read_once(TARGET HEADER...): with MAXMARGIN_TOGETHER and clang, whose time for a source without
# optimisation is that of reading headers, these are read once for all sources of a target. Sources
# with options of their own read them by themselves. GCC 12 saves less, and warns of std::string when
# it comes out of a precompiled header.
function(read_once target)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  set(headers ${ARGN})
  if(NOT MAXMARGIN_TOGETHER)
    # None of our own, so that a change compiles no more again than it has to.
    list(FILTER headers EXCLUDE REGEX "^<maxmargin/")
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
    # Without these it caches no source that has a precompiled header.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()
