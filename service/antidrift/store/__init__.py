"""The files that outlive the process: one snapshot, and one chain of ended sessions.

    folder.py     FileStore: the port, over one folder
    lock.py       one writer at a time
    snapshot.py   state.json, replaced whole
    audit.py      audit.jsonl, appended to, read from its end, verified
    chain.py      what one line of the chain is, on bytes alone
    files.py      every system call of the above

`verify`, `tail` and `remembered` need neither the service nor its lock.
"""

from antidrift.store.audit import AUDIT_NAME, Verification, tail, verify
from antidrift.store.chain import GENESIS, Head, Reason
from antidrift.store.files import Disk
from antidrift.store.folder import FileStore
from antidrift.store.lock import LOCK_NAME, StoreLocked
from antidrift.store.snapshot import SNAPSHOT_NAME, remembered

__all__ = [
    "AUDIT_NAME",
    "GENESIS",
    "LOCK_NAME",
    "SNAPSHOT_NAME",
    "Disk",
    "FileStore",
    "Head",
    "Reason",
    "StoreLocked",
    "Verification",
    "remembered",
    "tail",
    "verify",
]
