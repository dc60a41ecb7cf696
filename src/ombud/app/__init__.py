"""The only place where parts are chosen and joined.

A question needs a workspace and `asking`; the rest, with the rooms that read documents, is imported
on first use.
"""

from typing import TYPE_CHECKING

from ombud.app import asking, measuring
from ombud.app.workspace import Workspace, create_workspace
from ombud.registry import imported_later

if TYPE_CHECKING:
    from ombud.app import library
    from ombud.app.admin import (
        datasets,
        drafting,
        flagging,
        inspecting,
        jobs,
        overview,
        production,
        prompting,
        rating,
        studying,
        trying,
    )
    from ombud.app.audit.auditing import (
        chain_head,
        list_records,
        show_record,
        verified_json,
        verify_audit,
    )
    from ombud.app.audit.certify import certificate_json, certify_deletion
    from ombud.app.audit.exporting import export_of
    from ombud.app.audit.forgetting import erase_personal_data, expire, run_expiry
    from ombud.app.audit.replaying import replay_answer, replayed_json
    from ombud.app.audit.usage import find_usage, usage_json
    from ombud.app.backups.migrating import migrate
    from ombud.app.backups.restoring import restore_backup
    from ombud.app.backups.writing import write_backup
    from ombud.app.checks import check_all
    from ombud.app.flags import PROMPTS
    from ombud.app.gaps.page import render_gaps
    from ombud.app.gaps.report import Gaps, find_gaps, gaps_json
    from ombud.app.graph import graph_around, graph_stats
    from ombud.app.handoff import advising, conversing, handoff_jobs, replies, reporting, sharing
    from ombud.app.handoff.exporting import markdown_of
    from ombud.app.identity import callers, people, provider, provisioning, sessions, signing_in
    from ombud.app.publishing.checking import DraftCheck, check_drafts
    from ombud.app.publishing.drafts import DraftChoices, PolicyDraft
    from ombud.app.publishing.publications import (
        Publication,
        list_publications,
        publish_drafts,
        undo_publication,
    )
    from ombud.app.publishing.questions import QuestionChoices
    from ombud.app.publishing.report import check_html, check_json, check_markdown
    from ombud.app.publishing.rounds import store_round, with_drafts
    from ombud.app.purging import run_purges
    from ombud.app.schedule import every, report_line, run_every, run_schedule
    from ombud.app.sources import configured_sources, record_folder
    from ombud.app.syncing import (
        former_sources,
        index_stats,
        optimize_index,
        rebuild_workspace,
        run_sync,
        run_work_process,
        sync_all,
        sync_progress,
        watch,
    )
    from ombud.app.target import LocalTarget
    from ombud.app.watching.asking import DEVIATIONS, run_watch, watch_once
    from ombud.app.watching.judges import asker_for, embed_of, judge_of
    from ombud.app.watching.live import judge_live

__getattr__ = imported_later(
    __name__,
    {
        "admin": [
            "datasets",
            "drafting",
            "flagging",
            "inspecting",
            "jobs",
            "overview",
            "production",
            "prompting",
            "rating",
            "studying",
            "trying",
        ],
        "audit.auditing": [
            "chain_head",
            "list_records",
            "show_record",
            "verified_json",
            "verify_audit",
        ],
        "audit.certify": ["certificate_json", "certify_deletion"],
        "audit.exporting": ["export_of"],
        "audit.forgetting": ["erase_personal_data", "expire", "run_expiry"],
        "audit.replaying": ["replay_answer", "replayed_json"],
        "audit.usage": ["find_usage", "usage_json"],
        "checks": ["check_all"],
        "flags": ["PROMPTS"],
        "gaps.page": ["render_gaps"],
        "gaps.report": ["Gaps", "find_gaps", "gaps_json"],
        "backups.restoring": ["restore_backup"],
        "backups.writing": ["write_backup"],
        "handoff": ["advising", "conversing", "handoff_jobs", "replies", "reporting", "sharing"],
        "handoff.exporting": ["markdown_of"],
        "identity": ["callers", "people", "provider", "provisioning", "sessions", "signing_in"],
        "graph": ["graph_around", "graph_stats"],
        "publishing.checking": ["DraftCheck", "check_drafts"],
        "publishing.drafts": ["DraftChoices", "PolicyDraft"],
        "publishing.publications": [
            "Publication",
            "list_publications",
            "publish_drafts",
            "undo_publication",
        ],
        "publishing.questions": ["QuestionChoices"],
        "publishing.report": ["check_html", "check_json", "check_markdown"],
        "publishing.rounds": ["store_round", "with_drafts"],
        "backups.migrating": ["migrate"],
        "purging": ["run_purges"],
        "schedule": ["every", "report_line", "run_every", "run_schedule"],
        "sources": ["configured_sources", "record_folder"],
        "syncing": [
            "former_sources",
            "index_stats",
            "optimize_index",
            "rebuild_workspace",
            "run_sync",
            "run_work_process",
            "run_work_process",
            "sync_all",
            "sync_progress",
            "watch",
        ],
        "target": ["LocalTarget"],
        "watching.asking": ["DEVIATIONS", "run_watch", "watch_once"],
        "watching.judges": ["asker_for", "embed_of", "judge_of"],
        "watching.live": ["judge_live"],
    },
)
