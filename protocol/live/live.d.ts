// Generated from live.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface LiveOpen {
    replica: string;
    file: string;
    offset: number;
    follow: boolean;
    path: string;
    verb: string;
    data: Uint8Array<ArrayBuffer>;
    lines: number;
    until: number;
    identity: string;
    seen: Uint8Array<ArrayBuffer>;
}
export declare namespace LiveOpen {
    const codec: () => Codec<LiveOpen>;
    interface LiveOpenReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface LiveOpenFileFieldEvent {
        field: '$.file';
        value: string;
    }
    interface LiveOpenOffsetFieldEvent {
        field: '$.offset';
        value: number;
    }
    interface LiveOpenFollowFieldEvent {
        field: '$.follow';
        value: boolean;
    }
    interface LiveOpenPathFieldEvent {
        field: '$.path';
        value: string;
    }
    interface LiveOpenVerbFieldEvent {
        field: '$.verb';
        value: string;
    }
    interface LiveOpenDataFieldEvent {
        field: '$.data';
        value: Uint8Array<ArrayBuffer>;
    }
    interface LiveOpenLinesFieldEvent {
        field: '$.lines';
        value: number;
    }
    interface LiveOpenUntilFieldEvent {
        field: '$.until';
        value: number;
    }
    interface LiveOpenIdentityFieldEvent {
        field: '$.identity';
        value: string;
    }
    interface LiveOpenSeenFieldEvent {
        field: '$.seen';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<LiveOpen>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveOpen>): LiveOpen;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveOpen>): Generator<LiveOpenReplicaFieldEvent | LiveOpenFileFieldEvent | LiveOpenOffsetFieldEvent | LiveOpenFollowFieldEvent | LiveOpenPathFieldEvent | LiveOpenVerbFieldEvent | LiveOpenDataFieldEvent | LiveOpenLinesFieldEvent | LiveOpenUntilFieldEvent | LiveOpenIdentityFieldEvent | LiveOpenSeenFieldEvent>;
}
export interface LiveFrame {
    data?: Uint8Array<ArrayBuffer>;
    end: boolean;
    code?: string;
    message?: string;
    offset?: number;
    identity: string;
    missed: boolean;
    entries: LiveEntry[];
    more: boolean;
}
export declare namespace LiveFrame {
    const codec: () => Codec<LiveFrame>;
    interface LiveFrameDataFieldEvent {
        field: '$.data';
        value: Uint8Array<ArrayBuffer>;
    }
    interface LiveFrameEndFieldEvent {
        field: '$.end';
        value: boolean;
    }
    interface LiveFrameCodeFieldEvent {
        field: '$.code';
        value: string;
    }
    interface LiveFrameMessageFieldEvent {
        field: '$.message';
        value: string;
    }
    interface LiveFrameOffsetFieldEvent {
        field: '$.offset';
        value: number;
    }
    interface LiveFrameIdentityFieldEvent {
        field: '$.identity';
        value: string;
    }
    interface LiveFrameMissedFieldEvent {
        field: '$.missed';
        value: boolean;
    }
    interface LiveFrameEntriesNameFieldEvent {
        field: '$.entries[].name';
        value: string;
        index: number;
    }
    interface LiveFrameEntriesKindFieldEvent {
        field: '$.entries[].kind';
        value: string;
        index: number;
    }
    interface LiveFrameEntriesBytesFieldEvent {
        field: '$.entries[].bytes';
        value: number;
        index: number;
    }
    interface LiveFrameEntriesModifiedMsFieldEvent {
        field: '$.entries[].modifiedMs';
        value: number;
        index: number;
    }
    interface LiveFrameEntriesTargetFieldEvent {
        field: '$.entries[].target';
        value: string;
        index: number;
    }
    interface LiveFrameMoreFieldEvent {
        field: '$.more';
        value: boolean;
    }
    function encode(obj: Partial<LiveFrame>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveFrame>): LiveFrame;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveFrame>): Generator<LiveFrameDataFieldEvent | LiveFrameEndFieldEvent | LiveFrameCodeFieldEvent | LiveFrameMessageFieldEvent | LiveFrameOffsetFieldEvent | LiveFrameIdentityFieldEvent | LiveFrameMissedFieldEvent | LiveFrameEntriesNameFieldEvent | LiveFrameEntriesKindFieldEvent | LiveFrameEntriesBytesFieldEvent | LiveFrameEntriesModifiedMsFieldEvent | LiveFrameEntriesTargetFieldEvent | LiveFrameMoreFieldEvent>;
}
export interface LiveEntry {
    name: string;
    kind: string;
    bytes: number;
    modifiedMs: number;
    target: string;
}
export declare namespace LiveEntry {
    const codec: () => Codec<LiveEntry>;
    interface LiveEntryNameFieldEvent {
        field: '$.name';
        value: string;
    }
    interface LiveEntryKindFieldEvent {
        field: '$.kind';
        value: string;
    }
    interface LiveEntryBytesFieldEvent {
        field: '$.bytes';
        value: number;
    }
    interface LiveEntryModifiedMsFieldEvent {
        field: '$.modifiedMs';
        value: number;
    }
    interface LiveEntryTargetFieldEvent {
        field: '$.target';
        value: string;
    }
    function encode(obj: Partial<LiveEntry>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveEntry>): LiveEntry;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveEntry>): Generator<LiveEntryNameFieldEvent | LiveEntryKindFieldEvent | LiveEntryBytesFieldEvent | LiveEntryModifiedMsFieldEvent | LiveEntryTargetFieldEvent>;
}
