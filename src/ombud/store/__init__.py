"""The database of a workspace: documents, sources, answers, conversations, leases, and runs of the
lab.

SQLite with a write-ahead log by default; any SQLAlchemy URL of PostgreSQL.
"""

from ombud.store.administration import directory, keys
from ombud.store.administration.accounts import (
    change_account,
    find_account,
    find_password,
    find_subject,
    list_accounts,
    login_account,
    new_account,
    password_of,
    read_account,
    remove_account,
)
from ombud.store.administration.keys import (
    digest_of_secret,
    find_token,
    forget_login,
    keep_login,
    list_tokens,
    new_token,
    note_use,
    remove_token,
)
from ombud.store.administration.sources import (
    RecordedSource,
    add_source,
    document_sources,
    list_sources,
    remove_source,
)
from ombud.store.administration.wordings import PromptVersion, add_prompt_version, prompt_versions
from ombud.store.audit.erasure import ERASED, count_phrases, erase_quotes
from ombud.store.audit.exporting import read_of_person
from ombud.store.audit.forgetting import (
    ErasureSelection,
    answers_in,
    count_content,
    erase_rows,
    questions_in,
    select_conversation,
    select_expired,
    select_of_person,
)
from ombud.store.audit.noting import note_in_chain
from ombud.store.audit.sealing import seal, seal_soon
from ombud.store.audit.shares import ShareLink, find_share, share_conversation, withdraw_share
from ombud.store.audit.verifying import Broken, Link, Verified, read_head, read_links, verify_chain
from ombud.store.conversations import add_turn, read_answer, read_reasoning
from ombud.store.coordination.generations import (
    begin_generation,
    forget_generations,
    generations_of,
    live_generation,
    retire_before,
    switch_generation,
)
from ombud.store.coordination.work import (
    WorkItem,
    WorkResult,
    begin_work,
    claim_work,
    finish_work,
    put_work,
    renew_work,
    take_results,
)
from ombud.store.coordination.writes import begin_writes, forget_writes, unended_writes
from ombud.store.copying import compare_stores, copy_library, copy_store, count_rows
from ombud.store.database import HEAD, UPGRADABLE, Store, open_store
from ombud.store.events.delivery import (
    OWN_DESKS,
    LineRow,
    OutboxRow,
    close_line,
    desk_statuses,
    drop_row,
    drop_unsent,
    find_line,
    lines_with_work,
    look_soon,
    mark_failed,
    mark_sent,
    move_cursor,
    next_to_send,
    read_line,
    receive,
    retry_parked,
    save_memory,
    tickets_due,
)
from ombud.store.events.ended import EndedHandoff, ended_handoffs
from ombud.store.events.handled import HandoffTimes, list_handoff_times
from ombud.store.events.log import (
    LONGEST_MESSAGE,
    Appended,
    append_events,
    append_in,
    channel_sessions,
    conversations_of,
    disown_conversation,
    find_event,
    has_key,
    label_conversation,
    last_messages,
    list_sessions,
    new_conversation,
    owner_of,
    read_events,
    read_session,
    read_title,
)
from ombud.store.events.presence import note_presence, present_advisors, recent_waits
from ombud.store.events.projection import advance, project
from ombud.store.events.unread import LastWords, last_words
from ombud.store.events.watching import (
    News,
    NewsCursor,
    TypingSignal,
    newest,
    signal_typing,
)
from ombud.store.feedback import Feedback, feedback_on, list_feedback, rate_answer, read_thumbs
from ombud.store.glossary import Explained, abbreviations_of, list_abbreviations, save_abbreviations
from ombud.store.graph import (
    Edge,
    Extracted,
    Graph,
    Name,
    Spread,
    clear_graph,
    entity_names,
    graph_digests,
    graph_rows_of,
    graph_stats,
    read_extracted,
    save_graph,
    save_same,
)
from ombud.store.lease import Lease, acquire_free, acquire_lease, has_lease, take_lease
from ombud.store.library import (
    DocumentEntry,
    SavedDocument,
    SyncStamp,
    bury_documents,
    cut_document,
    document_ends,
    document_entries,
    document_ids,
    find_document,
    forget_document,
    forget_uncited,
    list_documents,
    page_totals,
    save_chunks,
    save_document,
    save_documents,
    save_end,
    save_facts,
    save_stamps,
    successors,
    text_of,
    text_versions,
    tombstones,
    written_for,
)
from ombud.store.progress import read_progress, save_progress
from ombud.store.records import (
    StoredAnswer,
    is_sensitive_conversation,
    list_answers,
    read_setup,
    read_stored_answer,
)
from ombud.store.replies import (
    JudgeCosts,
    StoredAlignment,
    StoredReply,
    find_reply,
    judge_costs,
    list_alignments,
    save_alignment,
    save_reply,
)
from ombud.store.runs import (
    NOT_SCORED,
    Done,
    add_look,
    count_looks,
    delete_run,
    done_places,
    find_run,
    forget_cases,
    judged_places,
    list_runs,
    read_observations,
    read_scores,
    save_done,
    save_run,
    save_scores,
    score_versions,
    scored_places,
    start_run,
)
from ombud.store.spending import Spending, add_spending, spent_by, spent_on
