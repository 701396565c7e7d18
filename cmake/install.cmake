# Installs the program, the library, its headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS maxmargin EXPORT maxmargin
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/maxmargin
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/maxmargin)
install(EXPORT maxmargin NAMESPACE maxmargin:: FILE maxmargin-targets.cmake
        DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/maxmargin-config.cmake.in
                              ${PROJECT_BINARY_DIR}/maxmargin-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/maxmargin-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/maxmargin-config.cmake
              ${PROJECT_BINARY_DIR}/maxmargin-config-version.cmake
        DESTINATION ${package_dir})

# A static library leaves it to its user to link what it needs.
set(dependencies "zlib libzstd libxxhash")
if(BUILD_SHARED_LIBS)
  set(pc_requires "Requires.private: ${dependencies}")
else()
  set(pc_requires "Requires: ${dependencies}")
endif()
# Relative, so that the tree may be installed anywhere (cmake --install --prefix).
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/maxmargin.pc.in ${PROJECT_BINARY_DIR}/maxmargin.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/maxmargin.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
