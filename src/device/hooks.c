/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program asks of all devices: to be called before a kernel prints, and with faults at the end of the process;
 * to be asked while it waits whether to go on (ts_interrupt_set).
 */
#include "device/device.h"

static struct {
    _Atomic(ts_print_fn *) before_print;
    _Atomic(ts_fault_fn *) at_exit;
    _Atomic(ts_interrupt_fn *) asked;
    _Atomic pthread_t asked_thread; /* written before `asked` */
} hooks;

void ts_interrupt_set(ts_interrupt_fn *asked)
{
    atomic_store(&hooks.asked, NULL);
    atomic_store(&hooks.asked_thread, pthread_self());
    atomic_store(&hooks.asked, asked);
}

ts_interrupt_fn *ts__interrupt_get(void)
{
    ts_interrupt_fn *asked = atomic_load_explicit(&hooks.asked, memory_order_acquire);
    pthread_t thread = atomic_load_explicit(&hooks.asked_thread, memory_order_relaxed);
    return asked && pthread_equal(thread, pthread_self()) ? asked : NULL;
}

void ts_print_set(ts_print_fn *before)
{
    atomic_store(&hooks.before_print, before);
}

ts_print_fn *ts__print_get(void)
{
    return atomic_load(&hooks.before_print);
}

void ts_fault_set(ts_fault_fn *tell)
{
    atomic_store(&hooks.at_exit, tell);
}

ts_fault_fn *ts__fault_get(void)
{
    return atomic_load(&hooks.at_exit);
}
