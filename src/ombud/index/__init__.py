"""The index: engines that store and search chunks, generations, and who may read which chunk."""

from ombud.index.engine import Engine, Leg, Row, Stats, Vector
from ombud.index.engine_loop import blocking, is_process_ending
from ombud.index.engines.passage_cache import clear_cache
from ombud.index.hot.hot_engine import HotEngine
from ombud.index.opening import open_backend, open_engine, open_snapshot
from ombud.index.pointer import GenerationPointer
from ombud.index.visibility import Filter, is_visible
