// Generated from sources.proto by `npm run proto`.
import { decodeMessage, encodeMessage, MaxLengthError, message, streamMessage } from 'protons-runtime';
export var Ask;
(function (Ask) {
    let _codec;
    Ask.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.addresses != null && obj.addresses.length > 0) {
                    for (const value of obj.addresses) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if (obj.roots != null && obj.roots.length > 0) {
                    for (const value of obj.roots) {
                        w.uint32(18);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    addresses: [],
                    roots: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.addresses != null && obj.addresses.length === opts.limits.addresses) {
                                throw new MaxLengthError('Decode error - repeated field "addresses" had too many elements');
                            }
                            obj.addresses.push(reader.string());
                            break;
                        }
                        case 2: {
                            if (opts.limits?.roots != null && obj.roots.length === opts.limits.roots) {
                                throw new MaxLengthError('Decode error - repeated field "roots" had too many elements');
                            }
                            obj.roots.push(reader.string());
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
                    addresses: 0,
                    roots: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.addresses != null && obj.addresses === opts.limits.addresses) {
                                throw new MaxLengthError('Streaming decode error - repeated field "addresses" had too many elements');
                            }
                            yield {
                                field: `${prefix}.addresses[]`,
                                index: obj.addresses,
                                value: reader.string()
                            };
                            obj.addresses++;
                            break;
                        }
                        case 2: {
                            if (opts.limits?.roots != null && obj.roots === opts.limits.roots) {
                                throw new MaxLengthError('Streaming decode error - repeated field "roots" had too many elements');
                            }
                            yield {
                                field: `${prefix}.roots[]`,
                                index: obj.roots,
                                value: reader.string()
                            };
                            obj.roots++;
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
export var Found;
(function (Found) {
    let _codec;
    Found.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.sources != null && obj.sources.length > 0) {
                    for (const value of obj.sources) {
                        w.uint32(10);
                        Source.codec().encode(value, w);
                    }
                }
                if (obj.record != null) {
                    w.uint32(18);
                    w.bytes(obj.record);
                }
                if (obj.neighbours != null && obj.neighbours.length > 0) {
                    for (const value of obj.neighbours) {
                        w.uint32(26);
                        Source.codec().encode(value, w);
                    }
                }
                if (obj.laterMs != null) {
                    w.uint32(32);
                    w.uint32(obj.laterMs);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    sources: [],
                    neighbours: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.sources != null && obj.sources.length === opts.limits.sources) {
                                throw new MaxLengthError('Decode error - repeated field "sources" had too many elements');
                            }
                            obj.sources.push(Source.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.sources$
                            }));
                            break;
                        }
                        case 2: {
                            obj.record = reader.bytes();
                            break;
                        }
                        case 3: {
                            if (opts.limits?.neighbours != null && obj.neighbours.length === opts.limits.neighbours) {
                                throw new MaxLengthError('Decode error - repeated field "neighbours" had too many elements');
                            }
                            obj.neighbours.push(Source.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.neighbours$
                            }));
                            break;
                        }
                        case 4: {
                            obj.laterMs = reader.uint32();
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
                    sources: 0,
                    neighbours: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.sources != null && obj.sources === opts.limits.sources) {
                                throw new MaxLengthError('Streaming decode error - repeated field "sources" had too many elements');
                            }
                            for (const evt of Source.codec().stream(reader, reader.uint32(), `${prefix}.sources[]`, {
                                limits: opts.limits?.sources$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.sources
                                };
                            }
                            obj.sources++;
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.record`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 3: {
                            if (opts.limits?.neighbours != null && obj.neighbours === opts.limits.neighbours) {
                                throw new MaxLengthError('Streaming decode error - repeated field "neighbours" had too many elements');
                            }
                            for (const evt of Source.codec().stream(reader, reader.uint32(), `${prefix}.neighbours[]`, {
                                limits: opts.limits?.neighbours$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.neighbours
                                };
                            }
                            obj.neighbours++;
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.laterMs`,
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
        return encodeMessage(obj, Found.codec());
    }
    Found.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Found.codec(), opts);
    }
    Found.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Found.codec(), opts);
    }
    Found.stream = stream;
})(Found || (Found = {}));
export var Source;
(function (Source) {
    let _codec;
    Source.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.peer != null && obj.peer !== '')) {
                    w.uint32(10);
                    w.string(obj.peer);
                }
                if (obj.addresses != null && obj.addresses.length > 0) {
                    for (const value of obj.addresses) {
                        w.uint32(18);
                        w.string(value);
                    }
                }
                if (obj.roots != null && obj.roots.length > 0) {
                    for (const value of obj.roots) {
                        w.uint32(24);
                        w.uint32(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    peer: '',
                    addresses: [],
                    roots: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.peer = reader.string();
                            break;
                        }
                        case 2: {
                            if (opts.limits?.addresses != null && obj.addresses.length === opts.limits.addresses) {
                                throw new MaxLengthError('Decode error - repeated field "addresses" had too many elements');
                            }
                            obj.addresses.push(reader.string());
                            break;
                        }
                        case 3: {
                            if (opts.limits?.roots != null && obj.roots.length === opts.limits.roots) {
                                throw new MaxLengthError('Decode error - repeated field "roots" had too many elements');
                            }
                            obj.roots.push(reader.uint32());
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
                    addresses: 0,
                    roots: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.peer`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            if (opts.limits?.addresses != null && obj.addresses === opts.limits.addresses) {
                                throw new MaxLengthError('Streaming decode error - repeated field "addresses" had too many elements');
                            }
                            yield {
                                field: `${prefix}.addresses[]`,
                                index: obj.addresses,
                                value: reader.string()
                            };
                            obj.addresses++;
                            break;
                        }
                        case 3: {
                            if (opts.limits?.roots != null && obj.roots === opts.limits.roots) {
                                throw new MaxLengthError('Streaming decode error - repeated field "roots" had too many elements');
                            }
                            yield {
                                field: `${prefix}.roots[]`,
                                index: obj.roots,
                                value: reader.uint32()
                            };
                            obj.roots++;
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
        return encodeMessage(obj, Source.codec());
    }
    Source.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Source.codec(), opts);
    }
    Source.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Source.codec(), opts);
    }
    Source.stream = stream;
})(Source || (Source = {}));
