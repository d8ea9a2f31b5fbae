// Generated from live.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface LiveOpen {
    replica: string;
    file: string;
    offset: number;
    follow: boolean;
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
    function encode(obj: Partial<LiveOpen>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveOpen>): LiveOpen;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveOpen>): Generator<LiveOpenReplicaFieldEvent | LiveOpenFileFieldEvent | LiveOpenOffsetFieldEvent | LiveOpenFollowFieldEvent>;
}
export interface LiveFrame {
    data?: Uint8Array<ArrayBuffer>;
    end: boolean;
    code?: string;
    message?: string;
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
    function encode(obj: Partial<LiveFrame>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveFrame>): LiveFrame;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LiveFrame>): Generator<LiveFrameDataFieldEvent | LiveFrameEndFieldEvent | LiveFrameCodeFieldEvent | LiveFrameMessageFieldEvent>;
}
