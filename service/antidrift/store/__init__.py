"""The files that outlive the process: one snapshot, and one chain of ended sessions.

    folder.py     FileStore: the port, over one folder
    lock.py       one writer at a time
    snapshot.py   state.json, replaced whole
    audit.py      audit.jsonl, appended to, read from its end, verified
    chain.py      what one line of the chain is, on bytes alone
    ledger.py     sent.jsonl, what was sent to an AI
    files.py      every system call of the above

`verify`, `tail`, `remembered` and `sent` need neither the service nor its lock.
"""

from antidrift.store.audit import AUDIT_NAME, Verification, tail, verify
from antidrift.store.chain import GENESIS, Head, Reason
from antidrift.store.files import Disk
from antidrift.store.folder import FileStore
from antidrift.store.ledger import LEDGER_NAME, LedgerFile, Sent, sent
from antidrift.store.lock import LOCK_NAME, StoreLocked
from antidrift.store.snapshot import SNAPSHOT_NAME, remembered

__all__ = [
    "AUDIT_NAME",
    "GENESIS",
    "LEDGER_NAME",
    "LOCK_NAME",
    "SNAPSHOT_NAME",
    "Disk",
    "FileStore",
    "Head",
    "LedgerFile",
    "Reason",
    "Sent",
    "StoreLocked",
    "Verification",
    "remembered",
    "sent",
    "tail",
    "verify",
]
