// Generated from parking.proto by `npm run proto`.
import { decodeMessage, encodeMessage, message, streamMessage } from 'protons-runtime';
import { alloc as uint8ArrayAlloc } from 'uint8arrays/alloc';
export var ParkingFrame;
(function (ParkingFrame) {
    let _codec;
    ParkingFrame.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.offer != null) {
                    w.uint32(10);
                    Offer.codec().encode(obj.offer, w);
                }
                if (obj.answer != null) {
                    w.uint32(18);
                    Answer.codec().encode(obj.answer, w);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {};
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.offer = Offer.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.offer
                            });
                            break;
                        }
                        case 2: {
                            obj.answer = Answer.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.answer
                            });
                            break;
                        }
                        default: {
                            reader.skipType(tag & 7);
                            break;
                        }
                    }
                }
                return obj;
            }, function* (reader, length, prefix, opts = {}) {
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield* Offer.codec().stream(reader, reader.uint32(), `${prefix}.offer`, {
                                limits: opts.limits?.offer
                            });
                            break;
                        }
                        case 2: {
                            yield* Answer.codec().stream(reader, reader.uint32(), `${prefix}.answer`, {
                                limits: opts.limits?.answer
                            });
                            break;
                        }
                        default: {
                            reader.skipType(tag & 7);
                            break;
                        }
                    }
                }
            });
        }
        return _codec;
    };
    function encode(obj) {
        return encodeMessage(obj, ParkingFrame.codec());
    }
    ParkingFrame.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, ParkingFrame.codec(), opts);
    }
    ParkingFrame.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, ParkingFrame.codec(), opts);
    }
    ParkingFrame.stream = stream;
})(ParkingFrame || (ParkingFrame = {}));
export var Offer;
(function (Offer) {
    let _codec;
    Offer.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.result != null && obj.result.byteLength > 0)) {
                    w.uint32(10);
                    w.bytes(obj.result);
                }
                if ((obj.signature != null && obj.signature.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.signature);
                }
                if ((obj.bytes != null && obj.bytes !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.bytes);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    result: uint8ArrayAlloc(0),
                    signature: uint8ArrayAlloc(0),
                    bytes: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.result = reader.bytes();
                            break;
                        }
                        case 2: {
                            obj.signature = reader.bytes();
                            break;
                        }
                        case 3: {
                            obj.bytes = reader.uint64Number();
                            break;
                        }
                        default: {
                            reader.skipType(tag & 7);
                            break;
                        }
                    }
                }
                return obj;
            }, function* (reader, length, prefix, opts = {}) {
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.result`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.signature`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.bytes`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        default: {
                            reader.skipType(tag & 7);
                            break;
                        }
                    }
                }
            });
        }
        return _codec;
    };
    function encode(obj) {
        return encodeMessage(obj, Offer.codec());
    }
    Offer.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Offer.codec(), opts);
    }
    Offer.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Offer.codec(), opts);
    }
    Offer.stream = stream;
})(Offer || (Offer = {}));
export var Answer;
(function (Answer) {
    let _codec;
    Answer.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.code != null && obj.code !== '')) {
                    w.uint32(10);
                    w.string(obj.code);
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(18);
                    w.string(obj.replica);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    code: '',
                    replica: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.code = reader.string();
                            break;
                        }
                        case 2: {
                            obj.replica = reader.string();
                            break;
                        }
                        default: {
                            reader.skipType(tag & 7);
                            break;
                        }
                    }
                }
                return obj;
            }, function* (reader, length, prefix, opts = {}) {
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.code`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.replica`,
                                value: reader.string()
                            };
                            break;
                        }
                        default: {
                            reader.skipType(tag & 7);
                            break;
                        }
                    }
                }
            });
        }
        return _codec;
    };
    function encode(obj) {
        return encodeMessage(obj, Answer.codec());
    }
    Answer.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Answer.codec(), opts);
    }
    Answer.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Answer.codec(), opts);
    }
    Answer.stream = stream;
})(Answer || (Answer = {}));
