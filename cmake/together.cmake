# Most of the time of a compiler goes into reading headers and into functions of templates that many sources need. With
# MAXMARGIN_TOGETHER the sources of a room are read as one, so that this happens once and not for each of them: less time
# for a build from nothing, more for one after a change. With ALL, those of several rooms.
set(MAXMARGIN_TOGETHER OFF CACHE STRING "Compile the sources of a room together: OFF, ON, or ALL for several rooms")
if(MAXMARGIN_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its collector of garbage looks at everything each time that memory has doubled, a tenth of the time: from half a
  # gigabyte on is soon enough.
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# compile_together(TARGET NAME SOURCE...): these as one. Sources with options of their own and those that Highway reads
# once for each kind of vector stay apart: see vectors_together.
function(compile_together target name)
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
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name})
    endif()
  endforeach()
endfunction()

# compile_rooms_together(TARGET MOST DEPTH SOURCE...): no more than MOST in one, of folders whose paths begin with the
# same DEPTH names.
function(compile_rooms_together target most depth)
  foreach(source ${ARGN})
    file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR} ${source})
    get_filename_component(room ${room} DIRECTORY)
    string(REPLACE "/" ";" room ${room})
    list(SUBLIST room 0 ${depth} room)
    string(MAKE_C_IDENTIFIER "${room}" room)
    math(EXPR count_${room} "${count_${room}} + 1")
    math(EXPR group "(${count_${room}} - 1) / ${most}")
    compile_together(${target} ${room}_${group} ${source})
  endforeach()
endfunction()

# vectors_together(TARGET NAME SOURCE...): sources of loops that Highway reads once for each kind of vector. Its headers
# take longer than the loops. Each source has its loops in an inline namespace of its own, so that small names do not
# meet; the functions that it exports need names that no other has. The options are those of the first.
function(vectors_together target name)
  if(NOT MAXMARGIN_TOGETHER)
    return()
  endif()
  set(together ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(text "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${together}\"\n")
  string(APPEND text "#include <hwy/foreach_target.h>\n#include <hwy/highway.h>\n")
  foreach(source ${ARGN})
    # A source names itself as what is to be read again.
    string(APPEND text "#pragma push_macro(\"HWY_TARGET_INCLUDE\")\n#include \"${source}\"\n"
                       "#pragma pop_macro(\"HWY_TARGET_INCLUDE\")\n")
  endforeach()
  file(CONFIGURE OUTPUT ${together} CONTENT "${text}" @ONLY)
  list(GET ARGN 0 first)
  get_source_file_property(options ${first} COMPILE_OPTIONS)
  set_source_files_properties(${together} PROPERTIES COMPILE_OPTIONS "${options}"
                              SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
  target_sources(${target} PRIVATE ${together})
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
