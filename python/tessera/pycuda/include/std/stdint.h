/* SPDX-License-Identifier: Apache-2.0
 *
 * For sources that include it out of habit: NVRTC has no headers of the host's C library.
 */
#ifndef TESSERA_STDINT_H
#define TESSERA_STDINT_H
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#endif
