# How everything in this tree is compiled and where it lands.
#   build/bin              programs            build/slurm-bin   the same under Slurm's names (symlinks)
#   build/lib              libraries           build/lib/spur    plugins, <axis>_<name>.so

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE ccache)
if(CCACHE)
    # Paths below the tree count as relative, so every clone of it shares one cache.
    set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# The sources of a target are compiled several at a time: most of what the compiler does for one file it need not do again for the next, so
# everything is built in a third of the time. A name that a file keeps to itself must then be its folder's only one. The preset
# `debug` compiles each file alone, which finds a missing #include.
option(SPUR_UNITY "Compile several sources of a target together" ON)
set(CMAKE_UNITY_BUILD ${SPUR_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
# spur_apart(source...): files that use the same names as their neighbours on purpose, such as one table each, are compiled alone.
function(spur_apart)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

set(SPUR_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
find_program(MOLD mold)
if(MOLD)
    add_link_options(-fuse-ld=mold)
endif()
# What users run is linked by GNU ld: mold, quick for many tests, takes whole parts of our libraries that nobody calls (a plugin of 100 kB
# became 1.4 MB) and cannot pack relocations; a command that runs for milliseconds feels both. For the same reason it has its C++ libraries
# inside: with shared ones three quarters of a command's instructions were the dynamic linker's. The daemons share libstdc++ with vendors'
# plugins: an exception that a plugin throws is caught where both have one runtime.
set(SPUR_LINK_FOR_USE -fuse-ld=bfd -Wl,-z,pack-relative-relocs)
if(NOT SPUR_SANITIZE)
    set(SPUR_STATIC_RUNTIME -static-libstdc++ -static-libgcc)
endif()

# spur_static_for_use(name shared static): a library spur::name that is the static archive in programs marked by spur_link_for_use and the
# shared library elsewhere (tests may link others that need it shared).
function(spur_static_for_use name shared archive)
    find_library(SPUR_STATIC_${name} ${archive} REQUIRED)
    add_library(spur_${name} INTERFACE)
    add_library(spur::${name} ALIAS spur_${name})
    target_link_libraries(spur_${name} INTERFACE
        $<IF:$<BOOL:$<TARGET_PROPERTY:SPUR_FOR_USE>>,${SPUR_STATIC_${name}},${shared}>)
endfunction()
function(spur_link_for_use target)
    set_target_properties(${target} PROPERTIES SPUR_FOR_USE ON)
    target_link_options(${target} PRIVATE ${SPUR_LINK_FOR_USE})
endfunction()

add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers)
if(SPUR_UNITY)
    # A local name may be that of a neighbour's constant; and the more gcc 12 sees, the more it cries wolf about std::expected.
    add_compile_options(-Wshadow=local -Wno-maybe-uninitialized)
else()
    add_compile_options(-Wshadow)
endif()
find_package(Threads REQUIRED)

if(SPUR_SANITIZE)
    # gcc 12 cries wolf about uninitialised members of std::variant once a sanitizer has rewritten them.
    add_compile_options(-fsanitize=${SPUR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-maybe-uninitialized)
    add_link_options(-fsanitize=${SPUR_SANITIZE})
endif()
