"""Text in, typed value out: embedders, chat models, rerankers, language."""

from ombud.models import linear
from ombud.models.chat.asking import PlainText, at_most, lean_form, list_of
from ombud.models.chat.budget import Budget, paid_by
from ombud.models.chat.calls import Call, record, recorded, stand_ins
from ombud.models.chat.chat import Chat, ChatReply
from ombud.models.chat.roles import ModelRoles, open_chat
from ombud.models.embed import late
from ombud.models.embed.embedder import EmbeddedText, Embedder, open_embedder
from ombud.models.embed.minilm import TaughtEncoder, installed_minilm, open_taught
from ombud.models.embed.onnx_graph import build_int8
from ombud.models.embed.remembering import CachingEmbedder, beside
from ombud.models.exposure import EXPOSURES
from ombud.models.reader import Reader, ReaderPassage, Reading, encode, open_reader
from ombud.models.remote import is_remote, route_of_part
from ombud.models.rerank.reranker import Reranker, open_reranker
