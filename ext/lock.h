/* SPDX-License-Identifier: Apache-2.0
 *
 * What keeps the extension's own state whole where Python has no lock of its own (Py_GIL_DISABLED, 3.13 on). With that
 * lock all of this is nothing, or the plain access.
 *
 *   lists of the module   filled under its mutex and only ever longer: a reader takes the length first, and no lock
 *   single words          CORE_GET, CORE_SET, CORE_TAKE, CORE_FIRST
 *   objects in a field    read and exchanged under the object's critical section (core_part, core_part_set)
 *   streams and events    close() takes the handle from its object at once; the library's half ends with the object,
 *                         for a thread may be between reading the handle and using it (core_end)
 *
 * No code of Python runs under the mutex or in a critical section, so neither waits for more than a few instructions.
 */
#ifndef TS_EXT_LOCK_H
#define TS_EXT_LOCK_H

#include <Python.h>

#define CORE_GET(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define CORE_SET(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELEASE)
#define CORE_TAKE(place, value) __atomic_exchange_n(&(place), value, __ATOMIC_ACQ_REL)
/* Puts a pointer where NULL is; whether it did. */
#define CORE_FIRST(place, value) \
    __atomic_compare_exchange_n(&(place), &(void *){NULL}, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#ifdef Py_GIL_DISABLED
typedef PyMutex core_mutex;
#define CORE_LOCK(mutex) PyMutex_Lock(mutex)
#define CORE_UNLOCK(mutex) PyMutex_Unlock(mutex)
#define CORE_ALONE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define CORE_NOT_ALONE() Py_END_CRITICAL_SECTION()
#else
typedef char core_mutex;
#define CORE_LOCK(mutex) ((void)(mutex))
#define CORE_UNLOCK(mutex) ((void)(mutex))
#define CORE_ALONE(object) {
#define CORE_NOT_ALONE() }
#endif

/* A new reference of what a field of `self` holds, or NULL without exception. */
static inline PyObject *core_part(PyObject *self, PyObject *const *field)
{
    PyObject *part;
    (void)self;
    CORE_ALONE(self);
    part = Py_XNewRef(*field);
    CORE_NOT_ALONE();
    return part;
}

/* Puts `part`, whose reference it takes, or NULL into a field of `self`. */
static inline void core_part_set(PyObject *self, PyObject **field, PyObject *part)
{
    PyObject *before;
    (void)self;
    CORE_ALONE(self);
    before = *field;
    *field = part;
    CORE_NOT_ALONE();
    Py_XDECREF(before);
}

/* What a dictionary holds for a key: a new reference, or NULL, with an exception where the look-up failed. */
static inline PyObject *core_dict_get(PyObject *dict, PyObject *key)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *found;
    return PyDict_GetItemRef(dict, key, &found) < 0 ? NULL : found;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

#endif
