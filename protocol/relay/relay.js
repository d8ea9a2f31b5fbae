// Generated from relay.proto by `npm run proto`.
import { decodeMessage, encodeMessage, MaxLengthError, message, streamMessage } from 'protons-runtime';
import { alloc as uint8ArrayAlloc } from 'uint8arrays/alloc';
export var Hop;
(function (Hop) {
    let _codec;
    Hop.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.type != null) {
                    w.uint32(8);
                    w.uint32(obj.type);
                }
                if (obj.peer != null) {
                    w.uint32(18);
                    Peer.codec().encode(obj.peer, w);
                }
                if (obj.reservation != null) {
                    w.uint32(26);
                    Reservation.codec().encode(obj.reservation, w);
                }
                if (obj.limit != null) {
                    w.uint32(34);
                    Limit.codec().encode(obj.limit, w);
                }
                if (obj.status != null) {
                    w.uint32(40);
                    w.uint32(obj.status);
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
                            obj.type = reader.uint32();
                            break;
                        }
                        case 2: {
                            obj.peer = Peer.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.peer
                            });
                            break;
                        }
                        case 3: {
                            obj.reservation = Reservation.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.reservation
                            });
                            break;
                        }
                        case 4: {
                            obj.limit = Limit.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.limit
                            });
                            break;
                        }
                        case 5: {
                            obj.status = reader.uint32();
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
                                field: `${prefix}.type`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 2: {
                            yield* Peer.codec().stream(reader, reader.uint32(), `${prefix}.peer`, {
                                limits: opts.limits?.peer
                            });
                            break;
                        }
                        case 3: {
                            yield* Reservation.codec().stream(reader, reader.uint32(), `${prefix}.reservation`, {
                                limits: opts.limits?.reservation
                            });
                            break;
                        }
                        case 4: {
                            yield* Limit.codec().stream(reader, reader.uint32(), `${prefix}.limit`, {
                                limits: opts.limits?.limit
                            });
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.status`,
                                value: reader.uint32()
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
        return encodeMessage(obj, Hop.codec());
    }
    Hop.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Hop.codec(), opts);
    }
    Hop.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Hop.codec(), opts);
    }
    Hop.stream = stream;
})(Hop || (Hop = {}));
export var Stop;
(function (Stop) {
    let _codec;
    Stop.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.type != null) {
                    w.uint32(8);
                    w.uint32(obj.type);
                }
                if (obj.peer != null) {
                    w.uint32(18);
                    Peer.codec().encode(obj.peer, w);
                }
                if (obj.limit != null) {
                    w.uint32(26);
                    Limit.codec().encode(obj.limit, w);
                }
                if (obj.status != null) {
                    w.uint32(32);
                    w.uint32(obj.status);
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
                            obj.type = reader.uint32();
                            break;
                        }
                        case 2: {
                            obj.peer = Peer.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.peer
                            });
                            break;
                        }
                        case 3: {
                            obj.limit = Limit.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.limit
                            });
                            break;
                        }
                        case 4: {
                            obj.status = reader.uint32();
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
                                field: `${prefix}.type`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 2: {
                            yield* Peer.codec().stream(reader, reader.uint32(), `${prefix}.peer`, {
                                limits: opts.limits?.peer
                            });
                            break;
                        }
                        case 3: {
                            yield* Limit.codec().stream(reader, reader.uint32(), `${prefix}.limit`, {
                                limits: opts.limits?.limit
                            });
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.status`,
                                value: reader.uint32()
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
        return encodeMessage(obj, Stop.codec());
    }
    Stop.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Stop.codec(), opts);
    }
    Stop.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Stop.codec(), opts);
    }
    Stop.stream = stream;
})(Stop || (Stop = {}));
export var Peer;
(function (Peer) {
    let _codec;
    Peer.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.id != null && obj.id.byteLength > 0)) {
                    w.uint32(10);
                    w.bytes(obj.id);
                }
                if (obj.addrs != null && obj.addrs.length > 0) {
                    for (const value of obj.addrs) {
                        w.uint32(18);
                        w.bytes(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    id: uint8ArrayAlloc(0),
                    addrs: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.id = reader.bytes();
                            break;
                        }
                        case 2: {
                            if (opts.limits?.addrs != null && obj.addrs.length === opts.limits.addrs) {
                                throw new MaxLengthError('Decode error - repeated field "addrs" had too many elements');
                            }
                            obj.addrs.push(reader.bytes());
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
                const obj = {
                    addrs: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.id`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 2: {
                            if (opts.limits?.addrs != null && obj.addrs === opts.limits.addrs) {
                                throw new MaxLengthError('Streaming decode error - repeated field "addrs" had too many elements');
                            }
                            yield {
                                field: `${prefix}.addrs[]`,
                                index: obj.addrs,
                                value: reader.bytes()
                            };
                            obj.addrs++;
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
        return encodeMessage(obj, Peer.codec());
    }
    Peer.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Peer.codec(), opts);
    }
    Peer.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Peer.codec(), opts);
    }
    Peer.stream = stream;
})(Peer || (Peer = {}));
export var Reservation;
(function (Reservation) {
    let _codec;
    Reservation.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.expire != null && obj.expire !== 0)) {
                    w.uint32(8);
                    w.uint64Number(obj.expire);
                }
                if (obj.addrs != null && obj.addrs.length > 0) {
                    for (const value of obj.addrs) {
                        w.uint32(18);
                        w.bytes(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    expire: 0,
                    addrs: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.expire = reader.uint64Number();
                            break;
                        }
                        case 2: {
                            if (opts.limits?.addrs != null && obj.addrs.length === opts.limits.addrs) {
                                throw new MaxLengthError('Decode error - repeated field "addrs" had too many elements');
                            }
                            obj.addrs.push(reader.bytes());
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
                const obj = {
                    addrs: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.expire`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 2: {
                            if (opts.limits?.addrs != null && obj.addrs === opts.limits.addrs) {
                                throw new MaxLengthError('Streaming decode error - repeated field "addrs" had too many elements');
                            }
                            yield {
                                field: `${prefix}.addrs[]`,
                                index: obj.addrs,
                                value: reader.bytes()
                            };
                            obj.addrs++;
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
        return encodeMessage(obj, Reservation.codec());
    }
    Reservation.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Reservation.codec(), opts);
    }
    Reservation.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Reservation.codec(), opts);
    }
    Reservation.stream = stream;
})(Reservation || (Reservation = {}));
export var Limit;
(function (Limit) {
    let _codec;
    Limit.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.duration != null) {
                    w.uint32(8);
                    w.uint32(obj.duration);
                }
                if (obj.data != null) {
                    w.uint32(16);
                    w.uint64Number(obj.data);
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
                            obj.duration = reader.uint32();
                            break;
                        }
                        case 2: {
                            obj.data = reader.uint64Number();
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
                                field: `${prefix}.duration`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.data`,
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
        return encodeMessage(obj, Limit.codec());
    }
    Limit.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Limit.codec(), opts);
    }
    Limit.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Limit.codec(), opts);
    }
    Limit.stream = stream;
})(Limit || (Limit = {}));
