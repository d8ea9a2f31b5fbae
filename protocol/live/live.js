// Generated from live.proto by `npm run proto`.
import { decodeMessage, encodeMessage, message, streamMessage } from 'protons-runtime';
export var LiveOpen;
(function (LiveOpen) {
    let _codec;
    LiveOpen.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.file != null && obj.file !== '')) {
                    w.uint32(18);
                    w.string(obj.file);
                }
                if ((obj.offset != null && obj.offset !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.offset);
                }
                if ((obj.follow != null && obj.follow !== false)) {
                    w.uint32(32);
                    w.bool(obj.follow);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    file: '',
                    offset: 0,
                    follow: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.replica = reader.string();
                            break;
                        }
                        case 2: {
                            obj.file = reader.string();
                            break;
                        }
                        case 3: {
                            obj.offset = reader.uint64Number();
                            break;
                        }
                        case 4: {
                            obj.follow = reader.bool();
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
                                field: `${prefix}.replica`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.file`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.offset`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.follow`,
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
        return encodeMessage(obj, LiveOpen.codec());
    }
    LiveOpen.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, LiveOpen.codec(), opts);
    }
    LiveOpen.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, LiveOpen.codec(), opts);
    }
    LiveOpen.stream = stream;
})(LiveOpen || (LiveOpen = {}));
export var LiveFrame;
(function (LiveFrame) {
    let _codec;
    LiveFrame.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.data != null) {
                    w.uint32(10);
                    w.bytes(obj.data);
                }
                if ((obj.end != null && obj.end !== false)) {
                    w.uint32(16);
                    w.bool(obj.end);
                }
                if (obj.code != null) {
                    w.uint32(26);
                    w.string(obj.code);
                }
                if (obj.message != null) {
                    w.uint32(34);
                    w.string(obj.message);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    end: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.data = reader.bytes();
                            break;
                        }
                        case 2: {
                            obj.end = reader.bool();
                            break;
                        }
                        case 3: {
                            obj.code = reader.string();
                            break;
                        }
                        case 4: {
                            obj.message = reader.string();
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
                                field: `${prefix}.data`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.end`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.code`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.message`,
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
        return encodeMessage(obj, LiveFrame.codec());
    }
    LiveFrame.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, LiveFrame.codec(), opts);
    }
    LiveFrame.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, LiveFrame.codec(), opts);
    }
    LiveFrame.stream = stream;
})(LiveFrame || (LiveFrame = {}));
