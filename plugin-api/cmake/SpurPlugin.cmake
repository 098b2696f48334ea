# spur_add_plugin(axis/name source... [LIBS library...]): a shared object <axis>_<name>.so that exports spur_module_v1()
# and nothing else. Used in Spur's own tree and, through find_package(SpurPlugin), by everybody else.
# spur_check_plugin(axis/name [argument...]): a target `check` that runs spur-plugin-check on it.
include_guard()

set(SPUR_PLUGIN_VERSION_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/plugin.map)

function(spur_add_plugin type)
    cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
    if(NOT type MATCHES "^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")
        message(FATAL_ERROR "spur_add_plugin: \"${type}\" is not axis/name, both in lower case")
    endif()
    string(REPLACE "/" "_" name ${type})
    add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE Spur::plugin_headers ${arg_LIBS})
    set_target_properties(${name} PROPERTIES
        PREFIX "" OUTPUT_NAME ${name}
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        LINK_DEPENDS ${SPUR_PLUGIN_VERSION_SCRIPT})
    target_link_options(${name} PRIVATE
        "LINKER:--version-script=${SPUR_PLUGIN_VERSION_SCRIPT}" "LINKER:--no-undefined" "LINKER:-z,now" "LINKER:-z,relro"
        "LINKER:--exclude-libs,ALL")
    if(SPUR_PLUGIN_OUTPUT_DIR)
        set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${SPUR_PLUGIN_OUTPUT_DIR})
    endif()
    # The daemons refuse what others than its owner may write to, which is what an umask of 002 leaves behind.
    add_custom_command(TARGET ${name} POST_BUILD
        COMMAND chmod go-w $<TARGET_FILE:${name}> $<TARGET_FILE_DIR:${name}> VERBATIM)
    if(NOT SPUR_PLUGIN_NO_INSTALL)
        install(TARGETS ${name} LIBRARY DESTINATION lib/spur)
        set_property(GLOBAL APPEND PROPERTY SPUR_PLUGINS ${name})
    endif()
endfunction()

function(spur_check_plugin type)
    string(REPLACE "/" "_" name ${type})
    add_custom_target(check_${name} COMMAND ${SPUR_PLUGIN_CHECK} ${ARGN} $<TARGET_FILE:${name}>
        DEPENDS ${name} USES_TERMINAL VERBATIM)
    if(NOT TARGET check)
        add_custom_target(check)
    endif()
    add_dependencies(check check_${name})
endfunction()
