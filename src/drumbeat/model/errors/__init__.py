"""Every error that Drumbeat raises, in one tree.

```
DrumbeatError
├── InvalidInput (ValueError)        the input is not valid
│   ├── InvalidTrigger               a trigger that is not valid
│   │   ├── InvalidCron              a cron expression that cannot be read or can never match
│   │   └── TriggerTooExpensive      a trigger whose next tick takes too long to find
│   ├── UnknownZone                  a time zone that the system does not know
│   ├── NaiveDatetime                an instant without a zone
│   ├── InvalidPolicy                a policy outside its range
│   ├── InvalidOption                an option of a task or a job outside its range
│   ├── InvalidArguments             arguments that the task does not take
│   ├── UnserialisableArguments      arguments that cannot be written as JSON
│   ├── InvalidPage                  a position that no page has returned
│   ├── MissingTask                  a job without a task, and there is no default task
│   ├── TooManyQueues                a new queue above the limit
│   ├── OversizedArguments           arguments above the size limit
│   └── OversizedValue               a shared value above the size limit
├── RegistrationError                a declaration that conflicts with another
│   ├── DuplicateTask
│   ├── DuplicateSchedule
│   └── InvalidHandler               a callable that cannot be a task
├── NotFound (LookupError)           the named thing does not exist
│   ├── UnknownTask
│   ├── UnknownSchedule
│   ├── UnknownJob
│   ├── UnknownOperation
│   ├── UnknownQueue
│   ├── UnknownNode
│   ├── UnknownElection
│   ├── UnknownKey                   a key of the shared configuration that has no value
│   └── UnknownToken
├── Conflict                         another write came first
│   ├── StaleEpoch                   a leader's write after its term
│   ├── IllegalChange                a status change that the table forbids
│   ├── Contended                    a guarded write that failed in every try
│   ├── VersionMismatch              the schedule is not at the expected version
│   ├── RevisionMismatch             the shared value is not at the expected revision
│   ├── WrongStatus                  a job or an operation whose status forbids the change
│   ├── NoTick                       a schedule has no tick left to skip, or none that is skipped
│   ├── NobodyLeads                  a hand-over was requested, but no node leads
│   └── TokenNameTaken               another token in use has the name
├── LockError
│   ├── LockHeld                     somebody else holds the lock
│   └── LockLost                     the lock ended while it was held
├── ConfigurationError (ValueError)  settings that are not valid
│   └── UnsafeLease                  lease timings that could give two leaders
├── Unavailable (ConnectionError)    a backend that does not answer; the outcome is unknown
│   └── TooManyStreams               the server has its maximum of open event streams
├── AccessError                      the server denies access
│   ├── Unauthorised                 no token, or an invalid one
│   └── Forbidden                    the scope of the token is too low
├── ProcessNotStarted                a handler process died before it was ready
├── NotRunning                       a call that needs a started app
├── WaitTimeout (TimeoutError)       a wait took too long
├── JobFailed                        the awaited job failed or was cancelled
└── Outcome                          raised by a handler to snooze or cancel its job
    ├── Snooze
    └── Cancel
```
Errors carry facts as attributes; callers match types and never parse texts.
"""

from drumbeat.model.errors.app import (
    ConfigurationError,
    DuplicateSchedule,
    DuplicateTask,
    InvalidHandler,
    NotRunning,
    ProcessNotStarted,
    RegistrationError,
    UnsafeLease,
)
from drumbeat.model.errors.conflict import (
    Conflict,
    Contended,
    IllegalChange,
    NobodyLeads,
    NoTick,
    RevisionMismatch,
    StaleEpoch,
    TokenNameTaken,
    VersionMismatch,
    WrongStatus,
)
from drumbeat.model.errors.invalid_input import (
    InvalidArguments,
    InvalidCron,
    InvalidInput,
    InvalidOption,
    InvalidPage,
    InvalidPolicy,
    InvalidTrigger,
    MissingTask,
    NaiveDatetime,
    OversizedArguments,
    OversizedValue,
    TooManyQueues,
    TriggerTooExpensive,
    UnknownZone,
    UnserialisableArguments,
)
from drumbeat.model.errors.job import Cancel, JobFailed, Outcome, Snooze, WaitTimeout
from drumbeat.model.errors.lock import LockError, LockHeld, LockLost
from drumbeat.model.errors.not_found import (
    NotFound,
    UnknownElection,
    UnknownJob,
    UnknownKey,
    UnknownNode,
    UnknownOperation,
    UnknownQueue,
    UnknownSchedule,
    UnknownTask,
    UnknownToken,
)
from drumbeat.model.errors.root import DrumbeatError
from drumbeat.model.errors.server import (
    AccessError,
    Forbidden,
    TooManyStreams,
    Unauthorised,
    Unavailable,
)

__all__ = [
    "AccessError",
    "Cancel",
    "ConfigurationError",
    "Conflict",
    "Contended",
    "DrumbeatError",
    "DuplicateSchedule",
    "DuplicateTask",
    "Forbidden",
    "IllegalChange",
    "InvalidArguments",
    "InvalidCron",
    "InvalidHandler",
    "InvalidInput",
    "InvalidOption",
    "InvalidPage",
    "InvalidPolicy",
    "InvalidTrigger",
    "JobFailed",
    "LockError",
    "LockHeld",
    "LockLost",
    "MissingTask",
    "NaiveDatetime",
    "NoTick",
    "NobodyLeads",
    "NotFound",
    "NotRunning",
    "Outcome",
    "OversizedArguments",
    "OversizedValue",
    "ProcessNotStarted",
    "RegistrationError",
    "RevisionMismatch",
    "Snooze",
    "StaleEpoch",
    "TokenNameTaken",
    "TooManyQueues",
    "TooManyStreams",
    "TriggerTooExpensive",
    "Unauthorised",
    "Unavailable",
    "UnknownElection",
    "UnknownJob",
    "UnknownKey",
    "UnknownNode",
    "UnknownOperation",
    "UnknownQueue",
    "UnknownSchedule",
    "UnknownTask",
    "UnknownToken",
    "UnknownZone",
    "UnsafeLease",
    "UnserialisableArguments",
    "VersionMismatch",
    "WaitTimeout",
    "WrongStatus",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # tracebacks show the name that users import
