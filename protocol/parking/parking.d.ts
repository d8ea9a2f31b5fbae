// Generated from parking.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface ParkingFrame {
    offer?: Offer;
    answer?: Answer;
}
export declare namespace ParkingFrame {
    const codec: () => Codec<ParkingFrame>;
    interface ParkingFrameOfferResultFieldEvent {
        field: '$.offer.result';
        value: Uint8Array<ArrayBuffer>;
    }
    interface ParkingFrameOfferSignatureFieldEvent {
        field: '$.offer.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface ParkingFrameOfferBytesFieldEvent {
        field: '$.offer.bytes';
        value: number;
    }
    interface ParkingFrameAnswerCodeFieldEvent {
        field: '$.answer.code';
        value: string;
    }
    interface ParkingFrameAnswerReplicaFieldEvent {
        field: '$.answer.replica';
        value: string;
    }
    function encode(obj: Partial<ParkingFrame>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ParkingFrame>): ParkingFrame;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ParkingFrame>): Generator<ParkingFrameOfferResultFieldEvent | ParkingFrameOfferSignatureFieldEvent | ParkingFrameOfferBytesFieldEvent | ParkingFrameAnswerCodeFieldEvent | ParkingFrameAnswerReplicaFieldEvent>;
}
export interface Offer {
    result: Uint8Array<ArrayBuffer>;
    signature: Uint8Array<ArrayBuffer>;
    bytes: number;
}
export declare namespace Offer {
    const codec: () => Codec<Offer>;
    interface OfferResultFieldEvent {
        field: '$.result';
        value: Uint8Array<ArrayBuffer>;
    }
    interface OfferSignatureFieldEvent {
        field: '$.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface OfferBytesFieldEvent {
        field: '$.bytes';
        value: number;
    }
    function encode(obj: Partial<Offer>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Offer>): Offer;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Offer>): Generator<OfferResultFieldEvent | OfferSignatureFieldEvent | OfferBytesFieldEvent>;
}
export interface Answer {
    code: string;
    replica: string;
}
export declare namespace Answer {
    const codec: () => Codec<Answer>;
    interface AnswerCodeFieldEvent {
        field: '$.code';
        value: string;
    }
    interface AnswerReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    function encode(obj: Partial<Answer>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Answer>): Answer;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Answer>): Generator<AnswerCodeFieldEvent | AnswerReplicaFieldEvent>;
}
