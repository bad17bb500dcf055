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
│   ├── InvalidHandler               a callable that cannot be a task
│   └── InvalidHook                  a middleware or a hook that cannot be one
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
│   ├── CoordinatorUnavailable       the coordinator does not say who leads
│   └── TooManyStreams               the server has its maximum of open event streams
├── AccessError                      the server denies access
│   ├── Unauthorised                 no token, or an invalid one
│   └── Forbidden                    the scope of the token is too low
├── ProcessNotStarted                a handler process was not ready for a call
├── StartHookFailed                  an on_start hook raised, so the node was not started
├── NotRunning                       a call that needs a started app
├── WaitTimeout (TimeoutError)       a wait took too long
├── JobFailed                        the awaited job failed or was cancelled
├── Fail                             raised by a handler to fail its job without a retry
└── Outcome                          raised by a handler to snooze or cancel its job
    ├── Snooze
    └── Cancel
```
Errors carry facts as attributes; callers match types and never parse texts.
"""

from drumbeat.model.errors.app import ConfigurationError as ConfigurationError
from drumbeat.model.errors.app import DuplicateSchedule as DuplicateSchedule
from drumbeat.model.errors.app import DuplicateTask as DuplicateTask
from drumbeat.model.errors.app import InvalidHandler as InvalidHandler
from drumbeat.model.errors.app import InvalidHook as InvalidHook
from drumbeat.model.errors.app import NotRunning as NotRunning
from drumbeat.model.errors.app import ProcessNotStarted as ProcessNotStarted
from drumbeat.model.errors.app import RegistrationError as RegistrationError
from drumbeat.model.errors.app import StartHookFailed as StartHookFailed
from drumbeat.model.errors.app import UnsafeLease as UnsafeLease
from drumbeat.model.errors.conflict import Conflict as Conflict
from drumbeat.model.errors.conflict import Contended as Contended
from drumbeat.model.errors.conflict import IllegalChange as IllegalChange
from drumbeat.model.errors.conflict import NobodyLeads as NobodyLeads
from drumbeat.model.errors.conflict import NoTick as NoTick
from drumbeat.model.errors.conflict import RevisionMismatch as RevisionMismatch
from drumbeat.model.errors.conflict import StaleEpoch as StaleEpoch
from drumbeat.model.errors.conflict import TokenNameTaken as TokenNameTaken
from drumbeat.model.errors.conflict import VersionMismatch as VersionMismatch
from drumbeat.model.errors.conflict import WrongStatus as WrongStatus
from drumbeat.model.errors.invalid_input import InvalidArguments as InvalidArguments
from drumbeat.model.errors.invalid_input import InvalidCron as InvalidCron
from drumbeat.model.errors.invalid_input import InvalidInput as InvalidInput
from drumbeat.model.errors.invalid_input import InvalidOption as InvalidOption
from drumbeat.model.errors.invalid_input import InvalidPage as InvalidPage
from drumbeat.model.errors.invalid_input import InvalidPolicy as InvalidPolicy
from drumbeat.model.errors.invalid_input import InvalidTrigger as InvalidTrigger
from drumbeat.model.errors.invalid_input import MissingTask as MissingTask
from drumbeat.model.errors.invalid_input import NaiveDatetime as NaiveDatetime
from drumbeat.model.errors.invalid_input import OversizedArguments as OversizedArguments
from drumbeat.model.errors.invalid_input import OversizedValue as OversizedValue
from drumbeat.model.errors.invalid_input import TooManyQueues as TooManyQueues
from drumbeat.model.errors.invalid_input import TriggerTooExpensive as TriggerTooExpensive
from drumbeat.model.errors.invalid_input import UnknownZone as UnknownZone
from drumbeat.model.errors.invalid_input import UnserialisableArguments as UnserialisableArguments
from drumbeat.model.errors.job import Cancel as Cancel
from drumbeat.model.errors.job import Fail as Fail
from drumbeat.model.errors.job import JobFailed as JobFailed
from drumbeat.model.errors.job import Outcome as Outcome
from drumbeat.model.errors.job import Snooze as Snooze
from drumbeat.model.errors.job import WaitTimeout as WaitTimeout
from drumbeat.model.errors.lock import LockError as LockError
from drumbeat.model.errors.lock import LockHeld as LockHeld
from drumbeat.model.errors.lock import LockLost as LockLost
from drumbeat.model.errors.not_found import NotFound as NotFound
from drumbeat.model.errors.not_found import UnknownElection as UnknownElection
from drumbeat.model.errors.not_found import UnknownJob as UnknownJob
from drumbeat.model.errors.not_found import UnknownKey as UnknownKey
from drumbeat.model.errors.not_found import UnknownNode as UnknownNode
from drumbeat.model.errors.not_found import UnknownOperation as UnknownOperation
from drumbeat.model.errors.not_found import UnknownQueue as UnknownQueue
from drumbeat.model.errors.not_found import UnknownSchedule as UnknownSchedule
from drumbeat.model.errors.not_found import UnknownTask as UnknownTask
from drumbeat.model.errors.not_found import UnknownToken as UnknownToken
from drumbeat.model.errors.root import DrumbeatError as DrumbeatError
from drumbeat.model.errors.server import AccessError as AccessError
from drumbeat.model.errors.server import CoordinatorUnavailable as CoordinatorUnavailable
from drumbeat.model.errors.server import Forbidden as Forbidden
from drumbeat.model.errors.server import TooManyStreams as TooManyStreams
from drumbeat.model.errors.server import Unauthorised as Unauthorised
from drumbeat.model.errors.server import Unavailable as Unavailable
