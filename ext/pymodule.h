/* SPDX-License-Identifier: Apache-2.0
 *
 * The definition of an extension module: multi-phase init, all state in the module, which module_exec makes and
 * module_clear ends. The including file has these two and module_traverse. `gil`, for interpreters that can do without
 * the lock: Py_MOD_GIL_NOT_USED, or Py_MOD_GIL_USED, with which importing the module turns it on.
 */
#ifndef TS_EXT_PYMODULE_H
#define TS_EXT_PYMODULE_H

#if PY_VERSION_HEX >= 0x030D0000
#define PY_MODULE_GIL(gil) {Py_mod_gil, gil},
#else
#define PY_MODULE_GIL(gil)
#endif

#define PY_MODULE(definition, short_name, documentation, state_type, functions, gil)  \
    static void module_free(void *module)                                             \
    {                                                                                 \
        module_clear(module);                                                         \
    }                                                                                 \
    static PyModuleDef_Slot module_slots[] = {                                        \
        {Py_mod_exec, module_exec},                                                   \
        PY_MODULE_GIL(gil)                                                            \
        {0, NULL},                                                                    \
    };                                                                                \
    PyModuleDef definition = {                                                        \
        PyModuleDef_HEAD_INIT,                                                        \
        .m_name = "tessera." #short_name,                                             \
        .m_doc = documentation,                                                       \
        .m_size = sizeof(state_type),                                                 \
        .m_methods = functions,                                                       \
        .m_slots = module_slots,                                                      \
        .m_traverse = module_traverse,                                                \
        .m_clear = module_clear,                                                      \
        .m_free = module_free,                                                        \
    };                                                                                \
    PyMODINIT_FUNC PyInit_##short_name(void);                                         \
    PyMODINIT_FUNC PyInit_##short_name(void)                                          \
    {                                                                                 \
        return PyModuleDef_Init(&definition);                                         \
    }

#endif
