// Generated from live.proto by `npm run proto`.
import { decodeMessage, encodeMessage, MaxLengthError, message, streamMessage } from 'protons-runtime';
import { alloc as uint8ArrayAlloc } from 'uint8arrays/alloc';
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
                if ((obj.path != null && obj.path !== '')) {
                    w.uint32(42);
                    w.string(obj.path);
                }
                if ((obj.verb != null && obj.verb !== '')) {
                    w.uint32(50);
                    w.string(obj.verb);
                }
                if ((obj.data != null && obj.data.byteLength > 0)) {
                    w.uint32(58);
                    w.bytes(obj.data);
                }
                if ((obj.lines != null && obj.lines !== 0)) {
                    w.uint32(64);
                    w.uint32(obj.lines);
                }
                if ((obj.until != null && obj.until !== 0)) {
                    w.uint32(72);
                    w.uint64Number(obj.until);
                }
                if ((obj.identity != null && obj.identity !== '')) {
                    w.uint32(82);
                    w.string(obj.identity);
                }
                if ((obj.seen != null && obj.seen.byteLength > 0)) {
                    w.uint32(90);
                    w.bytes(obj.seen);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    file: '',
                    offset: 0,
                    follow: false,
                    path: '',
                    verb: '',
                    data: uint8ArrayAlloc(0),
                    lines: 0,
                    until: 0,
                    identity: '',
                    seen: uint8ArrayAlloc(0)
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
                        case 5: {
                            obj.path = reader.string();
                            break;
                        }
                        case 6: {
                            obj.verb = reader.string();
                            break;
                        }
                        case 7: {
                            obj.data = reader.bytes();
                            break;
                        }
                        case 8: {
                            obj.lines = reader.uint32();
                            break;
                        }
                        case 9: {
                            obj.until = reader.uint64Number();
                            break;
                        }
                        case 10: {
                            obj.identity = reader.string();
                            break;
                        }
                        case 11: {
                            obj.seen = reader.bytes();
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
                        case 5: {
                            yield {
                                field: `${prefix}.path`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 6: {
                            yield {
                                field: `${prefix}.verb`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 7: {
                            yield {
                                field: `${prefix}.data`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 8: {
                            yield {
                                field: `${prefix}.lines`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 9: {
                            yield {
                                field: `${prefix}.until`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 10: {
                            yield {
                                field: `${prefix}.identity`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 11: {
                            yield {
                                field: `${prefix}.seen`,
                                value: reader.bytes()
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
                if (obj.offset != null) {
                    w.uint32(40);
                    w.uint64Number(obj.offset);
                }
                if ((obj.identity != null && obj.identity !== '')) {
                    w.uint32(50);
                    w.string(obj.identity);
                }
                if ((obj.missed != null && obj.missed !== false)) {
                    w.uint32(56);
                    w.bool(obj.missed);
                }
                if (obj.entries != null && obj.entries.length > 0) {
                    for (const value of obj.entries) {
                        w.uint32(66);
                        LiveEntry.codec().encode(value, w);
                    }
                }
                if ((obj.more != null && obj.more !== false)) {
                    w.uint32(72);
                    w.bool(obj.more);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    end: false,
                    identity: '',
                    missed: false,
                    entries: [],
                    more: false
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
                        case 5: {
                            obj.offset = reader.uint64Number();
                            break;
                        }
                        case 6: {
                            obj.identity = reader.string();
                            break;
                        }
                        case 7: {
                            obj.missed = reader.bool();
                            break;
                        }
                        case 8: {
                            if (opts.limits?.entries != null && obj.entries.length === opts.limits.entries) {
                                throw new MaxLengthError('Decode error - repeated field "entries" had too many elements');
                            }
                            obj.entries.push(LiveEntry.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.entries$
                            }));
                            break;
                        }
                        case 9: {
                            obj.more = reader.bool();
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
                    entries: 0
                };
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
                        case 5: {
                            yield {
                                field: `${prefix}.offset`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 6: {
                            yield {
                                field: `${prefix}.identity`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 7: {
                            yield {
                                field: `${prefix}.missed`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 8: {
                            if (opts.limits?.entries != null && obj.entries === opts.limits.entries) {
                                throw new MaxLengthError('Streaming decode error - repeated field "entries" had too many elements');
                            }
                            for (const evt of LiveEntry.codec().stream(reader, reader.uint32(), `${prefix}.entries[]`, {
                                limits: opts.limits?.entries$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.entries
                                };
                            }
                            obj.entries++;
                            break;
                        }
                        case 9: {
                            yield {
                                field: `${prefix}.more`,
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
export var LiveEntry;
(function (LiveEntry) {
    let _codec;
    LiveEntry.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.name != null && obj.name !== '')) {
                    w.uint32(10);
                    w.string(obj.name);
                }
                if ((obj.kind != null && obj.kind !== '')) {
                    w.uint32(18);
                    w.string(obj.kind);
                }
                if ((obj.bytes != null && obj.bytes !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.bytes);
                }
                if ((obj.modifiedMs != null && obj.modifiedMs !== 0)) {
                    w.uint32(32);
                    w.uint64Number(obj.modifiedMs);
                }
                if ((obj.target != null && obj.target !== '')) {
                    w.uint32(42);
                    w.string(obj.target);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    name: '',
                    kind: '',
                    bytes: 0,
                    modifiedMs: 0,
                    target: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.name = reader.string();
                            break;
                        }
                        case 2: {
                            obj.kind = reader.string();
                            break;
                        }
                        case 3: {
                            obj.bytes = reader.uint64Number();
                            break;
                        }
                        case 4: {
                            obj.modifiedMs = reader.uint64Number();
                            break;
                        }
                        case 5: {
                            obj.target = reader.string();
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
                                field: `${prefix}.name`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.kind`,
                                value: reader.string()
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
                        case 4: {
                            yield {
                                field: `${prefix}.modifiedMs`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.target`,
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
        return encodeMessage(obj, LiveEntry.codec());
    }
    LiveEntry.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, LiveEntry.codec(), opts);
    }
    LiveEntry.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, LiveEntry.codec(), opts);
    }
    LiveEntry.stream = stream;
})(LiveEntry || (LiveEntry = {}));
