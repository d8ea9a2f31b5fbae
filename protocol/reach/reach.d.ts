// Generated from reach.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface Ask {
    port: number;
}
export declare namespace Ask {
    const codec: () => Codec<Ask>;
    interface AskPortFieldEvent {
        field: '$.port';
        value: number;
    }
    function encode(obj: Partial<Ask>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Ask>): Ask;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Ask>): Generator<AskPortFieldEvent>;
}
export interface Seen {
    address: string;
    nowMs: number;
    open: boolean;
    udpPort: number;
    busy: boolean;
}
export declare namespace Seen {
    const codec: () => Codec<Seen>;
    interface SeenAddressFieldEvent {
        field: '$.address';
        value: string;
    }
    interface SeenNowMsFieldEvent {
        field: '$.nowMs';
        value: number;
    }
    interface SeenOpenFieldEvent {
        field: '$.open';
        value: boolean;
    }
    interface SeenUdpPortFieldEvent {
        field: '$.udpPort';
        value: number;
    }
    interface SeenBusyFieldEvent {
        field: '$.busy';
        value: boolean;
    }
    function encode(obj: Partial<Seen>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Seen>): Seen;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Seen>): Generator<SeenAddressFieldEvent | SeenNowMsFieldEvent | SeenOpenFieldEvent | SeenUdpPortFieldEvent | SeenBusyFieldEvent>;
}
