# find_package(SpurPlugin): the headers as Spur::plugin_headers, spur_add_plugin() and spur_check_plugin(). Found relative to
# this file, so an installed prefix may be moved.
get_filename_component(SPUR_PREFIX ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
if(NOT TARGET Spur::plugin_headers)
    add_library(Spur::plugin_headers INTERFACE IMPORTED)
    set_target_properties(Spur::plugin_headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${SPUR_PREFIX}/include)
endif()
find_program(SPUR_PLUGIN_CHECK spur-plugin-check HINTS ${SPUR_PREFIX}/bin)
include(${CMAKE_CURRENT_LIST_DIR}/SpurPlugin.cmake)
