// Generated from owner.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface Request {
    id: number;
    cancel: boolean;
    submit?: Submit;
    query?: Query;
    kill?: Kill;
    logs?: Logs;
    pull?: Pull;
    watch?: Watch;
    make?: Make;
    manage?: Manage;
    events?: Events;
    files?: Files;
    grant?: Grant;
    ban?: Ban;
}
export declare namespace Request {
    const codec: () => Codec<Request>;
    interface RequestIdFieldEvent {
        field: '$.id';
        value: number;
    }
    interface RequestCancelFieldEvent {
        field: '$.cancel';
        value: boolean;
    }
    interface RequestSubmitBatchFieldEvent {
        field: '$.submit.batch';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestSubmitNameFieldEvent {
        field: '$.submit.name';
        value: string;
    }
    interface RequestSubmitManifestsFieldEvent {
        field: '$.submit.manifests[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestSubmitPolicyFieldEvent {
        field: '$.submit.policy';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestSubmitMoreFieldEvent {
        field: '$.submit.more';
        value: boolean;
    }
    interface RequestSubmitFirstFieldEvent {
        field: '$.submit.first';
        value: number;
    }
    interface RequestSubmitLabelsLabelsFieldEvent {
        field: '$.submit.labels.labels[]';
        index: number;
        value: string;
    }
    interface RequestSubmitSourcesFieldEvent {
        field: '$.submit.sources';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestSubmitSweepFieldEvent {
        field: '$.submit.sweep';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestQueryWhatFieldEvent {
        field: '$.query.what';
        value: string;
    }
    interface RequestQueryOfFieldEvent {
        field: '$.query.of';
        value: string;
    }
    interface RequestQueryLimitFieldEvent {
        field: '$.query.limit';
        value: number;
    }
    interface RequestQueryAfterFieldEvent {
        field: '$.query.after';
        value: string;
    }
    interface RequestQuerySelectionLabelsFieldEvent {
        field: '$.query.selection.labels[]';
        index: number;
        value: string;
    }
    interface RequestQuerySelectionNameFieldEvent {
        field: '$.query.selection.name';
        value: string;
    }
    interface RequestQuerySelectionStateFieldEvent {
        field: '$.query.selection.state';
        value: string;
    }
    interface RequestKillOfFieldEvent {
        field: '$.kill.of';
        value: string;
    }
    interface RequestLogsOfFieldEvent {
        field: '$.logs.of';
        value: string;
    }
    interface RequestLogsFileFieldEvent {
        field: '$.logs.file';
        value: string;
    }
    interface RequestLogsOffsetFieldEvent {
        field: '$.logs.offset';
        value: number;
    }
    interface RequestLogsFollowFieldEvent {
        field: '$.logs.follow';
        value: boolean;
    }
    interface RequestLogsPathFieldEvent {
        field: '$.logs.path';
        value: string;
    }
    interface RequestLogsAttemptFieldEvent {
        field: '$.logs.attempt';
        value: number;
    }
    interface RequestLogsLinesFieldEvent {
        field: '$.logs.lines';
        value: number;
    }
    interface RequestLogsIdentityFieldEvent {
        field: '$.logs.identity';
        value: string;
    }
    interface RequestPullRootFieldEvent {
        field: '$.pull.root';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestPullNameFieldEvent {
        field: '$.pull.name';
        value: string;
    }
    interface RequestWatchOfFieldEvent {
        field: '$.watch.of';
        value: string;
    }
    interface RequestMakeEntriesPathFieldEvent {
        field: '$.make.entries[].path';
        value: string;
        index: number;
    }
    interface RequestMakeEntriesRootFieldEvent {
        field: '$.make.entries[].root';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface RequestMakeNameFieldEvent {
        field: '$.make.name';
        value: string;
    }
    interface RequestManageVerbFieldEvent {
        field: '$.manage.verb';
        value: string;
    }
    interface RequestManageOfFieldEvent {
        field: '$.manage.of';
        value: string;
    }
    interface RequestManageReasonFieldEvent {
        field: '$.manage.reason';
        value: string;
    }
    interface RequestManageStopFieldEvent {
        field: '$.manage.stop';
        value: boolean;
    }
    interface RequestManageDryRunFieldEvent {
        field: '$.manage.dryRun';
        value: boolean;
    }
    interface RequestManageSelectionLabelsFieldEvent {
        field: '$.manage.selection.labels[]';
        index: number;
        value: string;
    }
    interface RequestManageSelectionNameFieldEvent {
        field: '$.manage.selection.name';
        value: string;
    }
    interface RequestManageSelectionStateFieldEvent {
        field: '$.manage.selection.state';
        value: string;
    }
    interface RequestManageSetFieldEvent {
        field: '$.manage.set[]';
        index: number;
        value: string;
    }
    interface RequestManageIdFieldEvent {
        field: '$.manage.id';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestEventsOfFieldEvent {
        field: '$.events.of';
        value: string;
    }
    interface RequestEventsNodeFieldEvent {
        field: '$.events.node';
        value: string;
    }
    interface RequestEventsAfterFieldEvent {
        field: '$.events.after';
        value: number;
    }
    interface RequestEventsLimitFieldEvent {
        field: '$.events.limit';
        value: number;
    }
    interface RequestEventsFollowFieldEvent {
        field: '$.events.follow';
        value: boolean;
    }
    interface RequestFilesVerbFieldEvent {
        field: '$.files.verb';
        value: string;
    }
    interface RequestFilesOfFieldEvent {
        field: '$.files.of';
        value: string;
    }
    interface RequestFilesPathFieldEvent {
        field: '$.files.path';
        value: string;
    }
    interface RequestFilesAttemptFieldEvent {
        field: '$.files.attempt';
        value: number;
    }
    interface RequestFilesDataFieldEvent {
        field: '$.files.data';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestGrantClientFieldEvent {
        field: '$.grant.client';
        value: string;
    }
    interface RequestGrantSettingsFieldEvent {
        field: '$.grant.settings';
        value: Uint8Array<ArrayBuffer>;
    }
    interface RequestGrantMemberFieldEvent {
        field: '$.grant.member';
        value: boolean;
    }
    interface RequestBanKindFieldEvent {
        field: '$.ban.kind';
        value: string;
    }
    interface RequestBanValueFieldEvent {
        field: '$.ban.value';
        value: string;
    }
    interface RequestBanReasonFieldEvent {
        field: '$.ban.reason';
        value: string;
    }
    interface RequestBanLiftFieldEvent {
        field: '$.ban.lift';
        value: boolean;
    }
    interface RequestBanDryRunFieldEvent {
        field: '$.ban.dryRun';
        value: boolean;
    }
    function encode(obj: Partial<Request>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Request>): Request;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Request>): Generator<RequestIdFieldEvent | RequestCancelFieldEvent | RequestSubmitBatchFieldEvent | RequestSubmitNameFieldEvent | RequestSubmitManifestsFieldEvent | RequestSubmitPolicyFieldEvent | RequestSubmitMoreFieldEvent | RequestSubmitFirstFieldEvent | RequestSubmitLabelsLabelsFieldEvent | RequestSubmitSourcesFieldEvent | RequestSubmitSweepFieldEvent | RequestQueryWhatFieldEvent | RequestQueryOfFieldEvent | RequestQueryLimitFieldEvent | RequestQueryAfterFieldEvent | RequestQuerySelectionLabelsFieldEvent | RequestQuerySelectionNameFieldEvent | RequestQuerySelectionStateFieldEvent | RequestKillOfFieldEvent | RequestLogsOfFieldEvent | RequestLogsFileFieldEvent | RequestLogsOffsetFieldEvent | RequestLogsFollowFieldEvent | RequestLogsPathFieldEvent | RequestLogsAttemptFieldEvent | RequestLogsLinesFieldEvent | RequestLogsIdentityFieldEvent | RequestPullRootFieldEvent | RequestPullNameFieldEvent | RequestWatchOfFieldEvent | RequestMakeEntriesPathFieldEvent | RequestMakeEntriesRootFieldEvent | RequestMakeNameFieldEvent | RequestManageVerbFieldEvent | RequestManageOfFieldEvent | RequestManageReasonFieldEvent | RequestManageStopFieldEvent | RequestManageDryRunFieldEvent | RequestManageSelectionLabelsFieldEvent | RequestManageSelectionNameFieldEvent | RequestManageSelectionStateFieldEvent | RequestManageSetFieldEvent | RequestManageIdFieldEvent | RequestEventsOfFieldEvent | RequestEventsNodeFieldEvent | RequestEventsAfterFieldEvent | RequestEventsLimitFieldEvent | RequestEventsFollowFieldEvent | RequestFilesVerbFieldEvent | RequestFilesOfFieldEvent | RequestFilesPathFieldEvent | RequestFilesAttemptFieldEvent | RequestFilesDataFieldEvent | RequestGrantClientFieldEvent | RequestGrantSettingsFieldEvent | RequestGrantMemberFieldEvent | RequestBanKindFieldEvent | RequestBanValueFieldEvent | RequestBanReasonFieldEvent | RequestBanLiftFieldEvent | RequestBanDryRunFieldEvent>;
}
export interface Answer {
    id: number;
    end: boolean;
    code?: string;
    message?: string;
    body?: Uint8Array<ArrayBuffer>;
    data?: Uint8Array<ArrayBuffer>;
}
export declare namespace Answer {
    const codec: () => Codec<Answer>;
    interface AnswerIdFieldEvent {
        field: '$.id';
        value: number;
    }
    interface AnswerEndFieldEvent {
        field: '$.end';
        value: boolean;
    }
    interface AnswerCodeFieldEvent {
        field: '$.code';
        value: string;
    }
    interface AnswerMessageFieldEvent {
        field: '$.message';
        value: string;
    }
    interface AnswerBodyFieldEvent {
        field: '$.body';
        value: Uint8Array<ArrayBuffer>;
    }
    interface AnswerDataFieldEvent {
        field: '$.data';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Answer>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Answer>): Answer;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Answer>): Generator<AnswerIdFieldEvent | AnswerEndFieldEvent | AnswerCodeFieldEvent | AnswerMessageFieldEvent | AnswerBodyFieldEvent | AnswerDataFieldEvent>;
}
export interface Submit {
    batch: Uint8Array<ArrayBuffer>;
    name: string;
    manifests: Uint8Array<ArrayBuffer>[];
    policy: Uint8Array<ArrayBuffer>;
    more: boolean;
    first: number;
    labels?: Labels;
    sources?: Uint8Array<ArrayBuffer>;
    sweep?: Uint8Array<ArrayBuffer>;
}
export declare namespace Submit {
    const codec: () => Codec<Submit>;
    interface SubmitBatchFieldEvent {
        field: '$.batch';
        value: Uint8Array<ArrayBuffer>;
    }
    interface SubmitNameFieldEvent {
        field: '$.name';
        value: string;
    }
    interface SubmitManifestsFieldEvent {
        field: '$.manifests[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface SubmitPolicyFieldEvent {
        field: '$.policy';
        value: Uint8Array<ArrayBuffer>;
    }
    interface SubmitMoreFieldEvent {
        field: '$.more';
        value: boolean;
    }
    interface SubmitFirstFieldEvent {
        field: '$.first';
        value: number;
    }
    interface SubmitLabelsLabelsFieldEvent {
        field: '$.labels.labels[]';
        index: number;
        value: string;
    }
    interface SubmitSourcesFieldEvent {
        field: '$.sources';
        value: Uint8Array<ArrayBuffer>;
    }
    interface SubmitSweepFieldEvent {
        field: '$.sweep';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Submit>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Submit>): Submit;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Submit>): Generator<SubmitBatchFieldEvent | SubmitNameFieldEvent | SubmitManifestsFieldEvent | SubmitPolicyFieldEvent | SubmitMoreFieldEvent | SubmitFirstFieldEvent | SubmitLabelsLabelsFieldEvent | SubmitSourcesFieldEvent | SubmitSweepFieldEvent>;
}
export interface Labels {
    labels: string[];
}
export declare namespace Labels {
    const codec: () => Codec<Labels>;
    interface LabelsLabelsFieldEvent {
        field: '$.labels[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Labels>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Labels>): Labels;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Labels>): Generator<LabelsLabelsFieldEvent>;
}
export interface Selection {
    labels: string[];
    name: string;
    state: string;
}
export declare namespace Selection {
    const codec: () => Codec<Selection>;
    interface SelectionLabelsFieldEvent {
        field: '$.labels[]';
        index: number;
        value: string;
    }
    interface SelectionNameFieldEvent {
        field: '$.name';
        value: string;
    }
    interface SelectionStateFieldEvent {
        field: '$.state';
        value: string;
    }
    function encode(obj: Partial<Selection>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Selection>): Selection;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Selection>): Generator<SelectionLabelsFieldEvent | SelectionNameFieldEvent | SelectionStateFieldEvent>;
}
export interface Query {
    what: string;
    of: string;
    limit: number;
    after: string;
    selection?: Selection;
}
export declare namespace Query {
    const codec: () => Codec<Query>;
    interface QueryWhatFieldEvent {
        field: '$.what';
        value: string;
    }
    interface QueryOfFieldEvent {
        field: '$.of';
        value: string;
    }
    interface QueryLimitFieldEvent {
        field: '$.limit';
        value: number;
    }
    interface QueryAfterFieldEvent {
        field: '$.after';
        value: string;
    }
    interface QuerySelectionLabelsFieldEvent {
        field: '$.selection.labels[]';
        index: number;
        value: string;
    }
    interface QuerySelectionNameFieldEvent {
        field: '$.selection.name';
        value: string;
    }
    interface QuerySelectionStateFieldEvent {
        field: '$.selection.state';
        value: string;
    }
    function encode(obj: Partial<Query>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Query>): Query;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Query>): Generator<QueryWhatFieldEvent | QueryOfFieldEvent | QueryLimitFieldEvent | QueryAfterFieldEvent | QuerySelectionLabelsFieldEvent | QuerySelectionNameFieldEvent | QuerySelectionStateFieldEvent>;
}
export interface Kill {
    of: string;
}
export declare namespace Kill {
    const codec: () => Codec<Kill>;
    interface KillOfFieldEvent {
        field: '$.of';
        value: string;
    }
    function encode(obj: Partial<Kill>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Kill>): Kill;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Kill>): Generator<KillOfFieldEvent>;
}
export interface Manage {
    verb: string;
    of: string;
    reason: string;
    stop: boolean;
    dryRun: boolean;
    selection?: Selection;
    set: string[];
    id: Uint8Array<ArrayBuffer>;
}
export declare namespace Manage {
    const codec: () => Codec<Manage>;
    interface ManageVerbFieldEvent {
        field: '$.verb';
        value: string;
    }
    interface ManageOfFieldEvent {
        field: '$.of';
        value: string;
    }
    interface ManageReasonFieldEvent {
        field: '$.reason';
        value: string;
    }
    interface ManageStopFieldEvent {
        field: '$.stop';
        value: boolean;
    }
    interface ManageDryRunFieldEvent {
        field: '$.dryRun';
        value: boolean;
    }
    interface ManageSelectionLabelsFieldEvent {
        field: '$.selection.labels[]';
        index: number;
        value: string;
    }
    interface ManageSelectionNameFieldEvent {
        field: '$.selection.name';
        value: string;
    }
    interface ManageSelectionStateFieldEvent {
        field: '$.selection.state';
        value: string;
    }
    interface ManageSetFieldEvent {
        field: '$.set[]';
        index: number;
        value: string;
    }
    interface ManageIdFieldEvent {
        field: '$.id';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Manage>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Manage>): Manage;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Manage>): Generator<ManageVerbFieldEvent | ManageOfFieldEvent | ManageReasonFieldEvent | ManageStopFieldEvent | ManageDryRunFieldEvent | ManageSelectionLabelsFieldEvent | ManageSelectionNameFieldEvent | ManageSelectionStateFieldEvent | ManageSetFieldEvent | ManageIdFieldEvent>;
}
export interface Events {
    of: string;
    node: string;
    after: number;
    limit: number;
    follow: boolean;
}
export declare namespace Events {
    const codec: () => Codec<Events>;
    interface EventsOfFieldEvent {
        field: '$.of';
        value: string;
    }
    interface EventsNodeFieldEvent {
        field: '$.node';
        value: string;
    }
    interface EventsAfterFieldEvent {
        field: '$.after';
        value: number;
    }
    interface EventsLimitFieldEvent {
        field: '$.limit';
        value: number;
    }
    interface EventsFollowFieldEvent {
        field: '$.follow';
        value: boolean;
    }
    function encode(obj: Partial<Events>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Events>): Events;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Events>): Generator<EventsOfFieldEvent | EventsNodeFieldEvent | EventsAfterFieldEvent | EventsLimitFieldEvent | EventsFollowFieldEvent>;
}
export interface Logs {
    of: string;
    file: string;
    offset: number;
    follow: boolean;
    path: string;
    attempt: number;
    lines: number;
    identity: string;
}
export declare namespace Logs {
    const codec: () => Codec<Logs>;
    interface LogsOfFieldEvent {
        field: '$.of';
        value: string;
    }
    interface LogsFileFieldEvent {
        field: '$.file';
        value: string;
    }
    interface LogsOffsetFieldEvent {
        field: '$.offset';
        value: number;
    }
    interface LogsFollowFieldEvent {
        field: '$.follow';
        value: boolean;
    }
    interface LogsPathFieldEvent {
        field: '$.path';
        value: string;
    }
    interface LogsAttemptFieldEvent {
        field: '$.attempt';
        value: number;
    }
    interface LogsLinesFieldEvent {
        field: '$.lines';
        value: number;
    }
    interface LogsIdentityFieldEvent {
        field: '$.identity';
        value: string;
    }
    function encode(obj: Partial<Logs>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Logs>): Logs;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Logs>): Generator<LogsOfFieldEvent | LogsFileFieldEvent | LogsOffsetFieldEvent | LogsFollowFieldEvent | LogsPathFieldEvent | LogsAttemptFieldEvent | LogsLinesFieldEvent | LogsIdentityFieldEvent>;
}
export interface Files {
    verb: string;
    of: string;
    path: string;
    attempt: number;
    data: Uint8Array<ArrayBuffer>;
}
export declare namespace Files {
    const codec: () => Codec<Files>;
    interface FilesVerbFieldEvent {
        field: '$.verb';
        value: string;
    }
    interface FilesOfFieldEvent {
        field: '$.of';
        value: string;
    }
    interface FilesPathFieldEvent {
        field: '$.path';
        value: string;
    }
    interface FilesAttemptFieldEvent {
        field: '$.attempt';
        value: number;
    }
    interface FilesDataFieldEvent {
        field: '$.data';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Files>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Files>): Files;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Files>): Generator<FilesVerbFieldEvent | FilesOfFieldEvent | FilesPathFieldEvent | FilesAttemptFieldEvent | FilesDataFieldEvent>;
}
export interface Pull {
    root: Uint8Array<ArrayBuffer>;
    name: string;
}
export declare namespace Pull {
    const codec: () => Codec<Pull>;
    interface PullRootFieldEvent {
        field: '$.root';
        value: Uint8Array<ArrayBuffer>;
    }
    interface PullNameFieldEvent {
        field: '$.name';
        value: string;
    }
    function encode(obj: Partial<Pull>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Pull>): Pull;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Pull>): Generator<PullRootFieldEvent | PullNameFieldEvent>;
}
export interface Watch {
    of: string;
}
export declare namespace Watch {
    const codec: () => Codec<Watch>;
    interface WatchOfFieldEvent {
        field: '$.of';
        value: string;
    }
    function encode(obj: Partial<Watch>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Watch>): Watch;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Watch>): Generator<WatchOfFieldEvent>;
}
export interface Make {
    entries: MakeEntry[];
    name: string;
}
export declare namespace Make {
    const codec: () => Codec<Make>;
    interface MakeEntriesPathFieldEvent {
        field: '$.entries[].path';
        value: string;
        index: number;
    }
    interface MakeEntriesRootFieldEvent {
        field: '$.entries[].root';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface MakeNameFieldEvent {
        field: '$.name';
        value: string;
    }
    function encode(obj: Partial<Make>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Make>): Make;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Make>): Generator<MakeEntriesPathFieldEvent | MakeEntriesRootFieldEvent | MakeNameFieldEvent>;
}
export interface MakeEntry {
    path: string;
    root: Uint8Array<ArrayBuffer>;
}
export declare namespace MakeEntry {
    const codec: () => Codec<MakeEntry>;
    interface MakeEntryPathFieldEvent {
        field: '$.path';
        value: string;
    }
    interface MakeEntryRootFieldEvent {
        field: '$.root';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<MakeEntry>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<MakeEntry>): MakeEntry;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<MakeEntry>): Generator<MakeEntryPathFieldEvent | MakeEntryRootFieldEvent>;
}
export interface Grant {
    client: string;
    settings: Uint8Array<ArrayBuffer>;
    member?: boolean;
}
export declare namespace Grant {
    const codec: () => Codec<Grant>;
    interface GrantClientFieldEvent {
        field: '$.client';
        value: string;
    }
    interface GrantSettingsFieldEvent {
        field: '$.settings';
        value: Uint8Array<ArrayBuffer>;
    }
    interface GrantMemberFieldEvent {
        field: '$.member';
        value: boolean;
    }
    function encode(obj: Partial<Grant>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Grant>): Grant;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Grant>): Generator<GrantClientFieldEvent | GrantSettingsFieldEvent | GrantMemberFieldEvent>;
}
export interface Ban {
    kind: string;
    value: string;
    reason: string;
    lift: boolean;
    dryRun: boolean;
}
export declare namespace Ban {
    const codec: () => Codec<Ban>;
    interface BanKindFieldEvent {
        field: '$.kind';
        value: string;
    }
    interface BanValueFieldEvent {
        field: '$.value';
        value: string;
    }
    interface BanReasonFieldEvent {
        field: '$.reason';
        value: string;
    }
    interface BanLiftFieldEvent {
        field: '$.lift';
        value: boolean;
    }
    interface BanDryRunFieldEvent {
        field: '$.dryRun';
        value: boolean;
    }
    function encode(obj: Partial<Ban>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Ban>): Ban;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Ban>): Generator<BanKindFieldEvent | BanValueFieldEvent | BanReasonFieldEvent | BanLiftFieldEvent | BanDryRunFieldEvent>;
}
