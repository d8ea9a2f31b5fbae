// Generated from sources.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface Ask {
    addresses: string[];
    roots: string[];
}
export declare namespace Ask {
    const codec: () => Codec<Ask>;
    interface AskAddressesFieldEvent {
        field: '$.addresses[]';
        index: number;
        value: string;
    }
    interface AskRootsFieldEvent {
        field: '$.roots[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Ask>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Ask>): Ask;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Ask>): Generator<AskAddressesFieldEvent | AskRootsFieldEvent>;
}
export interface Found {
    sources: Source[];
    record?: Uint8Array<ArrayBuffer>;
    neighbours: Source[];
    laterMs?: number;
}
export declare namespace Found {
    const codec: () => Codec<Found>;
    interface FoundSourcesPeerFieldEvent {
        field: '$.sources[].peer';
        value: string;
        index: number;
    }
    interface FoundSourcesAddressesFieldEvent {
        field: '$.sources[].addresses[]';
        index: number;
        value: string;
    }
    interface FoundSourcesRootsFieldEvent {
        field: '$.sources[].roots[]';
        index: number;
        value: number;
    }
    interface FoundRecordFieldEvent {
        field: '$.record';
        value: Uint8Array<ArrayBuffer>;
    }
    interface FoundNeighboursPeerFieldEvent {
        field: '$.neighbours[].peer';
        value: string;
        index: number;
    }
    interface FoundNeighboursAddressesFieldEvent {
        field: '$.neighbours[].addresses[]';
        index: number;
        value: string;
    }
    interface FoundNeighboursRootsFieldEvent {
        field: '$.neighbours[].roots[]';
        index: number;
        value: number;
    }
    interface FoundLaterMsFieldEvent {
        field: '$.laterMs';
        value: number;
    }
    function encode(obj: Partial<Found>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Found>): Found;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Found>): Generator<FoundSourcesPeerFieldEvent | FoundSourcesAddressesFieldEvent | FoundSourcesRootsFieldEvent | FoundRecordFieldEvent | FoundNeighboursPeerFieldEvent | FoundNeighboursAddressesFieldEvent | FoundNeighboursRootsFieldEvent | FoundLaterMsFieldEvent>;
}
export interface Source {
    peer: string;
    addresses: string[];
    roots: number[];
}
export declare namespace Source {
    const codec: () => Codec<Source>;
    interface SourcePeerFieldEvent {
        field: '$.peer';
        value: string;
    }
    interface SourceAddressesFieldEvent {
        field: '$.addresses[]';
        index: number;
        value: string;
    }
    interface SourceRootsFieldEvent {
        field: '$.roots[]';
        index: number;
        value: number;
    }
    function encode(obj: Partial<Source>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Source>): Source;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Source>): Generator<SourcePeerFieldEvent | SourceAddressesFieldEvent | SourceRootsFieldEvent>;
}
