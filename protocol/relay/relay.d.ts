// Generated from relay.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface Hop {
    type?: number;
    peer?: Peer;
    reservation?: Reservation;
    limit?: Limit;
    status?: number;
}
export declare namespace Hop {
    const codec: () => Codec<Hop>;
    interface HopTypeFieldEvent {
        field: '$.type';
        value: number;
    }
    interface HopPeerIdFieldEvent {
        field: '$.peer.id';
        value: Uint8Array<ArrayBuffer>;
    }
    interface HopPeerAddrsFieldEvent {
        field: '$.peer.addrs[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface HopReservationExpireFieldEvent {
        field: '$.reservation.expire';
        value: number;
    }
    interface HopReservationAddrsFieldEvent {
        field: '$.reservation.addrs[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface HopLimitDurationFieldEvent {
        field: '$.limit.duration';
        value: number;
    }
    interface HopLimitDataFieldEvent {
        field: '$.limit.data';
        value: number;
    }
    interface HopStatusFieldEvent {
        field: '$.status';
        value: number;
    }
    function encode(obj: Partial<Hop>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Hop>): Hop;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Hop>): Generator<HopTypeFieldEvent | HopPeerIdFieldEvent | HopPeerAddrsFieldEvent | HopReservationExpireFieldEvent | HopReservationAddrsFieldEvent | HopLimitDurationFieldEvent | HopLimitDataFieldEvent | HopStatusFieldEvent>;
}
export interface Stop {
    type?: number;
    peer?: Peer;
    limit?: Limit;
    status?: number;
}
export declare namespace Stop {
    const codec: () => Codec<Stop>;
    interface StopTypeFieldEvent {
        field: '$.type';
        value: number;
    }
    interface StopPeerIdFieldEvent {
        field: '$.peer.id';
        value: Uint8Array<ArrayBuffer>;
    }
    interface StopPeerAddrsFieldEvent {
        field: '$.peer.addrs[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface StopLimitDurationFieldEvent {
        field: '$.limit.duration';
        value: number;
    }
    interface StopLimitDataFieldEvent {
        field: '$.limit.data';
        value: number;
    }
    interface StopStatusFieldEvent {
        field: '$.status';
        value: number;
    }
    function encode(obj: Partial<Stop>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Stop>): Stop;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Stop>): Generator<StopTypeFieldEvent | StopPeerIdFieldEvent | StopPeerAddrsFieldEvent | StopLimitDurationFieldEvent | StopLimitDataFieldEvent | StopStatusFieldEvent>;
}
export interface Peer {
    id: Uint8Array<ArrayBuffer>;
    addrs: Uint8Array<ArrayBuffer>[];
}
export declare namespace Peer {
    const codec: () => Codec<Peer>;
    interface PeerIdFieldEvent {
        field: '$.id';
        value: Uint8Array<ArrayBuffer>;
    }
    interface PeerAddrsFieldEvent {
        field: '$.addrs[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Peer>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Peer>): Peer;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Peer>): Generator<PeerIdFieldEvent | PeerAddrsFieldEvent>;
}
export interface Reservation {
    expire: number;
    addrs: Uint8Array<ArrayBuffer>[];
}
export declare namespace Reservation {
    const codec: () => Codec<Reservation>;
    interface ReservationExpireFieldEvent {
        field: '$.expire';
        value: number;
    }
    interface ReservationAddrsFieldEvent {
        field: '$.addrs[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Reservation>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Reservation>): Reservation;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Reservation>): Generator<ReservationExpireFieldEvent | ReservationAddrsFieldEvent>;
}
export interface Limit {
    duration?: number;
    data?: number;
}
export declare namespace Limit {
    const codec: () => Codec<Limit>;
    interface LimitDurationFieldEvent {
        field: '$.duration';
        value: number;
    }
    interface LimitDataFieldEvent {
        field: '$.data';
        value: number;
    }
    function encode(obj: Partial<Limit>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Limit>): Limit;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Limit>): Generator<LimitDurationFieldEvent | LimitDataFieldEvent>;
}
