// Generated from reach.proto by `npm run proto`.
import { decodeMessage, encodeMessage, message, streamMessage } from 'protons-runtime';
export var Ask;
(function (Ask) {
    let _codec;
    Ask.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.port != null && obj.port !== 0)) {
                    w.uint32(8);
                    w.uint32(obj.port);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    port: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.port = reader.uint32();
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
                                field: `${prefix}.port`,
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
        return encodeMessage(obj, Ask.codec());
    }
    Ask.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Ask.codec(), opts);
    }
    Ask.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Ask.codec(), opts);
    }
    Ask.stream = stream;
})(Ask || (Ask = {}));
export var Seen;
(function (Seen) {
    let _codec;
    Seen.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.address != null && obj.address !== '')) {
                    w.uint32(10);
                    w.string(obj.address);
                }
                if ((obj.nowMs != null && obj.nowMs !== 0)) {
                    w.uint32(16);
                    w.uint64Number(obj.nowMs);
                }
                if ((obj.open != null && obj.open !== false)) {
                    w.uint32(24);
                    w.bool(obj.open);
                }
                if ((obj.udpPort != null && obj.udpPort !== 0)) {
                    w.uint32(32);
                    w.uint32(obj.udpPort);
                }
                if ((obj.busy != null && obj.busy !== false)) {
                    w.uint32(40);
                    w.bool(obj.busy);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    address: '',
                    nowMs: 0,
                    open: false,
                    udpPort: 0,
                    busy: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.address = reader.string();
                            break;
                        }
                        case 2: {
                            obj.nowMs = reader.uint64Number();
                            break;
                        }
                        case 3: {
                            obj.open = reader.bool();
                            break;
                        }
                        case 4: {
                            obj.udpPort = reader.uint32();
                            break;
                        }
                        case 5: {
                            obj.busy = reader.bool();
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
                                field: `${prefix}.address`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.nowMs`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.open`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.udpPort`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.busy`,
                                value: reader.bool()
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
        return encodeMessage(obj, Seen.codec());
    }
    Seen.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Seen.codec(), opts);
    }
    Seen.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Seen.codec(), opts);
    }
    Seen.stream = stream;
})(Seen || (Seen = {}));
