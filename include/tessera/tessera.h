/* SPDX-License-Identifier: Apache-2.0
 *
 * All of Tessera's C interface. A program includes this file and links libtessera; docs/guide/c.md is its first page,
 * examples/c/ a whole program.
 *
 *     #include <tessera/tessera.h>                      cc program.c $(pkg-config --cflags --libs tessera)
 *     ts_device_get(TS_DEVICE_CPU, 0, &device, &err);
 *     ts_kernel_create(&desc, &kernel, &err);           desc.source: IR that was built, IR as text, packed Python
 *     ts_launch(ts_device_default_stream(device), grid, kernel, args, n_args, 0, &err);
 *
 *     base.h      statuses, errors, the allocation hook
 *     ir.h        building kernels as IR
 *     compile.h   from a kernel's source to code; what the compiler is told about arguments
 *     device.h    devices, memory, streams, events, loaded programs
 *     launch.h    kernels, their specialisations and cache, launches
 *     graph.h     graphs of the CPU device: work recorded once and run many times
 *     array.h     counted memory and strided views on it, DLPack
 *     numeric.h   arrays that compute: elementwise functions and reductions as NumPy's, noted and fused
 *     fft.h       Fourier transforms of lines in host memory
 *     native.h    the device's own handles, for code that talks to its driver as well
 *     compute.h   algorithms: reductions, scans, sorts
 *     lib.h       kernels that come with the library: matrix products by shape and dtype
 *     report.h    what a kernel costs, counted before it runs
 *     tileir.h    CUDA Tile IR bytecode, read and written
 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "tessera/array.h"
#include "tessera/base.h"
#include "tessera/compile.h"
#include "tessera/compute.h"
#include "tessera/device.h"
#include "tessera/fft.h"
#include "tessera/graph.h"
#include "tessera/ir.h"
#include "tessera/launch.h"
#include "tessera/lib.h"
#include "tessera/native.h"
#include "tessera/numeric.h"
#include "tessera/report.h"
#include "tessera/tileir.h"

#endif
