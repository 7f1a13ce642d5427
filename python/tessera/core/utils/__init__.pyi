# The names of this package, by tools/gen_packages.py. Do not edit.
from ._program_cache import FileStreamProgramCache as FileStreamProgramCache
from ._program_cache import InMemoryProgramCache as InMemoryProgramCache
from ._program_cache import ProgramCacheResource as ProgramCacheResource
from .._memoryview import StridedMemoryView as StridedMemoryView
from .._memoryview import args_viewable_as_strided_memory as args_viewable_as_strided_memory
from .._memory._managed import discard_batch as discard_batch
from .._memory._managed import discard_prefetch_batch as discard_prefetch_batch
from ._program_cache import make_program_cache_key as make_program_cache_key
from .._memory._managed import prefetch_batch as prefetch_batch
