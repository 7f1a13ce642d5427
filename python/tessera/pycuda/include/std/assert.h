/* SPDX-License-Identifier: Apache-2.0
 *
 * Empty: what a kernel can use of it is built into the compiler.
 */
