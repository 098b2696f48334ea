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
find_program(MOLD mold)
if(MOLD)
    add_link_options(-fuse-ld=mold)
endif()
# What users run is linked by GNU ld: mold, quick for many tests, takes whole parts of our libraries that nobody calls (a plugin of 100 kB
# became 1.4 MB) and cannot pack relocations; a command that runs for milliseconds feels both.
set(SPUR_LINK_FOR_USE -fuse-ld=bfd -Wl,-z,pack-relative-relocs)

add_compile_options(-Wall -Wextra -Werror -Wshadow -Wno-missing-field-initializers)
find_package(Threads REQUIRED)

set(SPUR_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
if(SPUR_SANITIZE)
    # gcc 12 cries wolf about uninitialised members of std::variant once a sanitizer has rewritten them.
    add_compile_options(-fsanitize=${SPUR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-maybe-uninitialized)
    add_link_options(-fsanitize=${SPUR_SANITIZE})
endif()
