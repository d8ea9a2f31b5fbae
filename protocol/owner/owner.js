// Generated from owner.proto by `npm run proto`.
import { decodeMessage, encodeMessage, MaxLengthError, message, streamMessage } from 'protons-runtime';
import { alloc as uint8ArrayAlloc } from 'uint8arrays/alloc';
export var Request;
(function (Request) {
    let _codec;
    Request.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.id != null && obj.id !== 0)) {
                    w.uint32(8);
                    w.uint32(obj.id);
                }
                if ((obj.cancel != null && obj.cancel !== false)) {
                    w.uint32(16);
                    w.bool(obj.cancel);
                }
                if (obj.submit != null) {
                    w.uint32(82);
                    Submit.codec().encode(obj.submit, w);
                }
                if (obj.query != null) {
                    w.uint32(90);
                    Query.codec().encode(obj.query, w);
                }
                if (obj.kill != null) {
                    w.uint32(98);
                    Kill.codec().encode(obj.kill, w);
                }
                if (obj.logs != null) {
                    w.uint32(106);
                    Logs.codec().encode(obj.logs, w);
                }
                if (obj.pull != null) {
                    w.uint32(114);
                    Pull.codec().encode(obj.pull, w);
                }
                if (obj.watch != null) {
                    w.uint32(122);
                    Watch.codec().encode(obj.watch, w);
                }
                if (obj.make != null) {
                    w.uint32(130);
                    Make.codec().encode(obj.make, w);
                }
                if (obj.manage != null) {
                    w.uint32(138);
                    Manage.codec().encode(obj.manage, w);
                }
                if (obj.events != null) {
                    w.uint32(146);
                    Events.codec().encode(obj.events, w);
                }
                if (obj.files != null) {
                    w.uint32(154);
                    Files.codec().encode(obj.files, w);
                }
                if (obj.grant != null) {
                    w.uint32(162);
                    Grant.codec().encode(obj.grant, w);
                }
                if (obj.ban != null) {
                    w.uint32(178);
                    Ban.codec().encode(obj.ban, w);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    id: 0,
                    cancel: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.id = reader.uint32();
                            break;
                        }
                        case 2: {
                            obj.cancel = reader.bool();
                            break;
                        }
                        case 10: {
                            obj.submit = Submit.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.submit
                            });
                            break;
                        }
                        case 11: {
                            obj.query = Query.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.query
                            });
                            break;
                        }
                        case 12: {
                            obj.kill = Kill.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.kill
                            });
                            break;
                        }
                        case 13: {
                            obj.logs = Logs.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.logs
                            });
                            break;
                        }
                        case 14: {
                            obj.pull = Pull.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.pull
                            });
                            break;
                        }
                        case 15: {
                            obj.watch = Watch.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.watch
                            });
                            break;
                        }
                        case 16: {
                            obj.make = Make.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.make
                            });
                            break;
                        }
                        case 17: {
                            obj.manage = Manage.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.manage
                            });
                            break;
                        }
                        case 18: {
                            obj.events = Events.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.events
                            });
                            break;
                        }
                        case 19: {
                            obj.files = Files.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.files
                            });
                            break;
                        }
                        case 20: {
                            obj.grant = Grant.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.grant
                            });
                            break;
                        }
                        case 22: {
                            obj.ban = Ban.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.ban
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
                            yield {
                                field: `${prefix}.id`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.cancel`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 10: {
                            yield* Submit.codec().stream(reader, reader.uint32(), `${prefix}.submit`, {
                                limits: opts.limits?.submit
                            });
                            break;
                        }
                        case 11: {
                            yield* Query.codec().stream(reader, reader.uint32(), `${prefix}.query`, {
                                limits: opts.limits?.query
                            });
                            break;
                        }
                        case 12: {
                            yield* Kill.codec().stream(reader, reader.uint32(), `${prefix}.kill`, {
                                limits: opts.limits?.kill
                            });
                            break;
                        }
                        case 13: {
                            yield* Logs.codec().stream(reader, reader.uint32(), `${prefix}.logs`, {
                                limits: opts.limits?.logs
                            });
                            break;
                        }
                        case 14: {
                            yield* Pull.codec().stream(reader, reader.uint32(), `${prefix}.pull`, {
                                limits: opts.limits?.pull
                            });
                            break;
                        }
                        case 15: {
                            yield* Watch.codec().stream(reader, reader.uint32(), `${prefix}.watch`, {
                                limits: opts.limits?.watch
                            });
                            break;
                        }
                        case 16: {
                            yield* Make.codec().stream(reader, reader.uint32(), `${prefix}.make`, {
                                limits: opts.limits?.make
                            });
                            break;
                        }
                        case 17: {
                            yield* Manage.codec().stream(reader, reader.uint32(), `${prefix}.manage`, {
                                limits: opts.limits?.manage
                            });
                            break;
                        }
                        case 18: {
                            yield* Events.codec().stream(reader, reader.uint32(), `${prefix}.events`, {
                                limits: opts.limits?.events
                            });
                            break;
                        }
                        case 19: {
                            yield* Files.codec().stream(reader, reader.uint32(), `${prefix}.files`, {
                                limits: opts.limits?.files
                            });
                            break;
                        }
                        case 20: {
                            yield* Grant.codec().stream(reader, reader.uint32(), `${prefix}.grant`, {
                                limits: opts.limits?.grant
                            });
                            break;
                        }
                        case 22: {
                            yield* Ban.codec().stream(reader, reader.uint32(), `${prefix}.ban`, {
                                limits: opts.limits?.ban
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
        return encodeMessage(obj, Request.codec());
    }
    Request.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Request.codec(), opts);
    }
    Request.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Request.codec(), opts);
    }
    Request.stream = stream;
})(Request || (Request = {}));
export var Answer;
(function (Answer) {
    let _codec;
    Answer.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.id != null && obj.id !== 0)) {
                    w.uint32(8);
                    w.uint32(obj.id);
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
                if (obj.body != null) {
                    w.uint32(42);
                    w.bytes(obj.body);
                }
                if (obj.data != null) {
                    w.uint32(50);
                    w.bytes(obj.data);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    id: 0,
                    end: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.id = reader.uint32();
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
                            obj.body = reader.bytes();
                            break;
                        }
                        case 6: {
                            obj.data = reader.bytes();
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
                                field: `${prefix}.id`,
                                value: reader.uint32()
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
                                field: `${prefix}.body`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 6: {
                            yield {
                                field: `${prefix}.data`,
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
export var Submit;
(function (Submit) {
    let _codec;
    Submit.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.batch != null && obj.batch.byteLength > 0)) {
                    w.uint32(10);
                    w.bytes(obj.batch);
                }
                if ((obj.name != null && obj.name !== '')) {
                    w.uint32(18);
                    w.string(obj.name);
                }
                if (obj.manifests != null && obj.manifests.length > 0) {
                    for (const value of obj.manifests) {
                        w.uint32(26);
                        w.bytes(value);
                    }
                }
                if ((obj.policy != null && obj.policy.byteLength > 0)) {
                    w.uint32(34);
                    w.bytes(obj.policy);
                }
                if ((obj.more != null && obj.more !== false)) {
                    w.uint32(40);
                    w.bool(obj.more);
                }
                if ((obj.first != null && obj.first !== 0)) {
                    w.uint32(48);
                    w.uint32(obj.first);
                }
                if (obj.labels != null) {
                    w.uint32(58);
                    Labels.codec().encode(obj.labels, w);
                }
                if (obj.sources != null) {
                    w.uint32(66);
                    w.bytes(obj.sources);
                }
                if (obj.sweep != null) {
                    w.uint32(74);
                    w.bytes(obj.sweep);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    batch: uint8ArrayAlloc(0),
                    name: '',
                    manifests: [],
                    policy: uint8ArrayAlloc(0),
                    more: false,
                    first: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.batch = reader.bytes();
                            break;
                        }
                        case 2: {
                            obj.name = reader.string();
                            break;
                        }
                        case 3: {
                            if (opts.limits?.manifests != null && obj.manifests.length === opts.limits.manifests) {
                                throw new MaxLengthError('Decode error - repeated field "manifests" had too many elements');
                            }
                            obj.manifests.push(reader.bytes());
                            break;
                        }
                        case 4: {
                            obj.policy = reader.bytes();
                            break;
                        }
                        case 5: {
                            obj.more = reader.bool();
                            break;
                        }
                        case 6: {
                            obj.first = reader.uint32();
                            break;
                        }
                        case 7: {
                            obj.labels = Labels.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.labels
                            });
                            break;
                        }
                        case 8: {
                            obj.sources = reader.bytes();
                            break;
                        }
                        case 9: {
                            obj.sweep = reader.bytes();
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
                    manifests: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.batch`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.name`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            if (opts.limits?.manifests != null && obj.manifests === opts.limits.manifests) {
                                throw new MaxLengthError('Streaming decode error - repeated field "manifests" had too many elements');
                            }
                            yield {
                                field: `${prefix}.manifests[]`,
                                index: obj.manifests,
                                value: reader.bytes()
                            };
                            obj.manifests++;
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.policy`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.more`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 6: {
                            yield {
                                field: `${prefix}.first`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 7: {
                            yield* Labels.codec().stream(reader, reader.uint32(), `${prefix}.labels`, {
                                limits: opts.limits?.labels
                            });
                            break;
                        }
                        case 8: {
                            yield {
                                field: `${prefix}.sources`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 9: {
                            yield {
                                field: `${prefix}.sweep`,
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
        return encodeMessage(obj, Submit.codec());
    }
    Submit.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Submit.codec(), opts);
    }
    Submit.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Submit.codec(), opts);
    }
    Submit.stream = stream;
})(Submit || (Submit = {}));
export var Labels;
(function (Labels) {
    let _codec;
    Labels.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.labels != null && obj.labels.length > 0) {
                    for (const value of obj.labels) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    labels: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.labels != null && obj.labels.length === opts.limits.labels) {
                                throw new MaxLengthError('Decode error - repeated field "labels" had too many elements');
                            }
                            obj.labels.push(reader.string());
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
                    labels: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.labels != null && obj.labels === opts.limits.labels) {
                                throw new MaxLengthError('Streaming decode error - repeated field "labels" had too many elements');
                            }
                            yield {
                                field: `${prefix}.labels[]`,
                                index: obj.labels,
                                value: reader.string()
                            };
                            obj.labels++;
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
        return encodeMessage(obj, Labels.codec());
    }
    Labels.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Labels.codec(), opts);
    }
    Labels.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Labels.codec(), opts);
    }
    Labels.stream = stream;
})(Labels || (Labels = {}));
export var Selection;
(function (Selection) {
    let _codec;
    Selection.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.labels != null && obj.labels.length > 0) {
                    for (const value of obj.labels) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if ((obj.name != null && obj.name !== '')) {
                    w.uint32(18);
                    w.string(obj.name);
                }
                if ((obj.state != null && obj.state !== '')) {
                    w.uint32(26);
                    w.string(obj.state);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    labels: [],
                    name: '',
                    state: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.labels != null && obj.labels.length === opts.limits.labels) {
                                throw new MaxLengthError('Decode error - repeated field "labels" had too many elements');
                            }
                            obj.labels.push(reader.string());
                            break;
                        }
                        case 2: {
                            obj.name = reader.string();
                            break;
                        }
                        case 3: {
                            obj.state = reader.string();
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
                    labels: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.labels != null && obj.labels === opts.limits.labels) {
                                throw new MaxLengthError('Streaming decode error - repeated field "labels" had too many elements');
                            }
                            yield {
                                field: `${prefix}.labels[]`,
                                index: obj.labels,
                                value: reader.string()
                            };
                            obj.labels++;
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.name`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.state`,
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
        return encodeMessage(obj, Selection.codec());
    }
    Selection.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Selection.codec(), opts);
    }
    Selection.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Selection.codec(), opts);
    }
    Selection.stream = stream;
})(Selection || (Selection = {}));
export var Query;
(function (Query) {
    let _codec;
    Query.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.what != null && obj.what !== '')) {
                    w.uint32(10);
                    w.string(obj.what);
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(18);
                    w.string(obj.of);
                }
                if ((obj.limit != null && obj.limit !== 0)) {
                    w.uint32(24);
                    w.uint32(obj.limit);
                }
                if ((obj.after != null && obj.after !== '')) {
                    w.uint32(34);
                    w.string(obj.after);
                }
                if (obj.selection != null) {
                    w.uint32(42);
                    Selection.codec().encode(obj.selection, w);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    what: '',
                    of: '',
                    limit: 0,
                    after: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.what = reader.string();
                            break;
                        }
                        case 2: {
                            obj.of = reader.string();
                            break;
                        }
                        case 3: {
                            obj.limit = reader.uint32();
                            break;
                        }
                        case 4: {
                            obj.after = reader.string();
                            break;
                        }
                        case 5: {
                            obj.selection = Selection.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.selection
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
                            yield {
                                field: `${prefix}.what`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.of`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.limit`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.after`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 5: {
                            yield* Selection.codec().stream(reader, reader.uint32(), `${prefix}.selection`, {
                                limits: opts.limits?.selection
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
        return encodeMessage(obj, Query.codec());
    }
    Query.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Query.codec(), opts);
    }
    Query.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Query.codec(), opts);
    }
    Query.stream = stream;
})(Query || (Query = {}));
export var Kill;
(function (Kill) {
    let _codec;
    Kill.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(10);
                    w.string(obj.of);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    of: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.of = reader.string();
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
                                field: `${prefix}.of`,
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
        return encodeMessage(obj, Kill.codec());
    }
    Kill.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Kill.codec(), opts);
    }
    Kill.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Kill.codec(), opts);
    }
    Kill.stream = stream;
})(Kill || (Kill = {}));
export var Manage;
(function (Manage) {
    let _codec;
    Manage.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.verb != null && obj.verb !== '')) {
                    w.uint32(10);
                    w.string(obj.verb);
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(18);
                    w.string(obj.of);
                }
                if ((obj.reason != null && obj.reason !== '')) {
                    w.uint32(26);
                    w.string(obj.reason);
                }
                if ((obj.stop != null && obj.stop !== false)) {
                    w.uint32(32);
                    w.bool(obj.stop);
                }
                if ((obj.dryRun != null && obj.dryRun !== false)) {
                    w.uint32(40);
                    w.bool(obj.dryRun);
                }
                if (obj.selection != null) {
                    w.uint32(50);
                    Selection.codec().encode(obj.selection, w);
                }
                if (obj.set != null && obj.set.length > 0) {
                    for (const value of obj.set) {
                        w.uint32(58);
                        w.string(value);
                    }
                }
                if ((obj.id != null && obj.id.byteLength > 0)) {
                    w.uint32(66);
                    w.bytes(obj.id);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    verb: '',
                    of: '',
                    reason: '',
                    stop: false,
                    dryRun: false,
                    set: [],
                    id: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.verb = reader.string();
                            break;
                        }
                        case 2: {
                            obj.of = reader.string();
                            break;
                        }
                        case 3: {
                            obj.reason = reader.string();
                            break;
                        }
                        case 4: {
                            obj.stop = reader.bool();
                            break;
                        }
                        case 5: {
                            obj.dryRun = reader.bool();
                            break;
                        }
                        case 6: {
                            obj.selection = Selection.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.selection
                            });
                            break;
                        }
                        case 7: {
                            if (opts.limits?.set != null && obj.set.length === opts.limits.set) {
                                throw new MaxLengthError('Decode error - repeated field "set" had too many elements');
                            }
                            obj.set.push(reader.string());
                            break;
                        }
                        case 8: {
                            obj.id = reader.bytes();
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
                    set: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.verb`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.of`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.reason`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.stop`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.dryRun`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 6: {
                            yield* Selection.codec().stream(reader, reader.uint32(), `${prefix}.selection`, {
                                limits: opts.limits?.selection
                            });
                            break;
                        }
                        case 7: {
                            if (opts.limits?.set != null && obj.set === opts.limits.set) {
                                throw new MaxLengthError('Streaming decode error - repeated field "set" had too many elements');
                            }
                            yield {
                                field: `${prefix}.set[]`,
                                index: obj.set,
                                value: reader.string()
                            };
                            obj.set++;
                            break;
                        }
                        case 8: {
                            yield {
                                field: `${prefix}.id`,
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
        return encodeMessage(obj, Manage.codec());
    }
    Manage.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Manage.codec(), opts);
    }
    Manage.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Manage.codec(), opts);
    }
    Manage.stream = stream;
})(Manage || (Manage = {}));
export var Events;
(function (Events) {
    let _codec;
    Events.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(10);
                    w.string(obj.of);
                }
                if ((obj.node != null && obj.node !== '')) {
                    w.uint32(18);
                    w.string(obj.node);
                }
                if ((obj.after != null && obj.after !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.after);
                }
                if ((obj.limit != null && obj.limit !== 0)) {
                    w.uint32(32);
                    w.uint32(obj.limit);
                }
                if ((obj.follow != null && obj.follow !== false)) {
                    w.uint32(40);
                    w.bool(obj.follow);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    of: '',
                    node: '',
                    after: 0,
                    limit: 0,
                    follow: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.of = reader.string();
                            break;
                        }
                        case 2: {
                            obj.node = reader.string();
                            break;
                        }
                        case 3: {
                            obj.after = reader.uint64Number();
                            break;
                        }
                        case 4: {
                            obj.limit = reader.uint32();
                            break;
                        }
                        case 5: {
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
                                field: `${prefix}.of`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.node`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.after`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.limit`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 5: {
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
        return encodeMessage(obj, Events.codec());
    }
    Events.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Events.codec(), opts);
    }
    Events.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Events.codec(), opts);
    }
    Events.stream = stream;
})(Events || (Events = {}));
export var Logs;
(function (Logs) {
    let _codec;
    Logs.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(10);
                    w.string(obj.of);
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
                if ((obj.attempt != null && obj.attempt !== 0)) {
                    w.uint32(48);
                    w.uint32(obj.attempt);
                }
                if ((obj.lines != null && obj.lines !== 0)) {
                    w.uint32(56);
                    w.uint32(obj.lines);
                }
                if ((obj.identity != null && obj.identity !== '')) {
                    w.uint32(66);
                    w.string(obj.identity);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    of: '',
                    file: '',
                    offset: 0,
                    follow: false,
                    path: '',
                    attempt: 0,
                    lines: 0,
                    identity: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.of = reader.string();
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
                            obj.attempt = reader.uint32();
                            break;
                        }
                        case 7: {
                            obj.lines = reader.uint32();
                            break;
                        }
                        case 8: {
                            obj.identity = reader.string();
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
                                field: `${prefix}.of`,
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
                                field: `${prefix}.attempt`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 7: {
                            yield {
                                field: `${prefix}.lines`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 8: {
                            yield {
                                field: `${prefix}.identity`,
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
        return encodeMessage(obj, Logs.codec());
    }
    Logs.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Logs.codec(), opts);
    }
    Logs.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Logs.codec(), opts);
    }
    Logs.stream = stream;
})(Logs || (Logs = {}));
export var Files;
(function (Files) {
    let _codec;
    Files.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.verb != null && obj.verb !== '')) {
                    w.uint32(10);
                    w.string(obj.verb);
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(18);
                    w.string(obj.of);
                }
                if ((obj.path != null && obj.path !== '')) {
                    w.uint32(26);
                    w.string(obj.path);
                }
                if ((obj.attempt != null && obj.attempt !== 0)) {
                    w.uint32(32);
                    w.uint32(obj.attempt);
                }
                if ((obj.data != null && obj.data.byteLength > 0)) {
                    w.uint32(42);
                    w.bytes(obj.data);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    verb: '',
                    of: '',
                    path: '',
                    attempt: 0,
                    data: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.verb = reader.string();
                            break;
                        }
                        case 2: {
                            obj.of = reader.string();
                            break;
                        }
                        case 3: {
                            obj.path = reader.string();
                            break;
                        }
                        case 4: {
                            obj.attempt = reader.uint32();
                            break;
                        }
                        case 5: {
                            obj.data = reader.bytes();
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
                                field: `${prefix}.verb`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.of`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.path`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.attempt`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.data`,
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
        return encodeMessage(obj, Files.codec());
    }
    Files.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Files.codec(), opts);
    }
    Files.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Files.codec(), opts);
    }
    Files.stream = stream;
})(Files || (Files = {}));
export var Pull;
(function (Pull) {
    let _codec;
    Pull.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.root != null && obj.root.byteLength > 0)) {
                    w.uint32(10);
                    w.bytes(obj.root);
                }
                if ((obj.name != null && obj.name !== '')) {
                    w.uint32(18);
                    w.string(obj.name);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    root: uint8ArrayAlloc(0),
                    name: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.root = reader.bytes();
                            break;
                        }
                        case 2: {
                            obj.name = reader.string();
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
                                field: `${prefix}.root`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.name`,
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
        return encodeMessage(obj, Pull.codec());
    }
    Pull.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Pull.codec(), opts);
    }
    Pull.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Pull.codec(), opts);
    }
    Pull.stream = stream;
})(Pull || (Pull = {}));
export var Watch;
(function (Watch) {
    let _codec;
    Watch.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.of != null && obj.of !== '')) {
                    w.uint32(10);
                    w.string(obj.of);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    of: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.of = reader.string();
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
                                field: `${prefix}.of`,
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
        return encodeMessage(obj, Watch.codec());
    }
    Watch.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Watch.codec(), opts);
    }
    Watch.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Watch.codec(), opts);
    }
    Watch.stream = stream;
})(Watch || (Watch = {}));
export var Make;
(function (Make) {
    let _codec;
    Make.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.entries != null && obj.entries.length > 0) {
                    for (const value of obj.entries) {
                        w.uint32(10);
                        MakeEntry.codec().encode(value, w);
                    }
                }
                if ((obj.name != null && obj.name !== '')) {
                    w.uint32(18);
                    w.string(obj.name);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    entries: [],
                    name: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.entries != null && obj.entries.length === opts.limits.entries) {
                                throw new MaxLengthError('Decode error - repeated field "entries" had too many elements');
                            }
                            obj.entries.push(MakeEntry.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.entries$
                            }));
                            break;
                        }
                        case 2: {
                            obj.name = reader.string();
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
                            if (opts.limits?.entries != null && obj.entries === opts.limits.entries) {
                                throw new MaxLengthError('Streaming decode error - repeated field "entries" had too many elements');
                            }
                            for (const evt of MakeEntry.codec().stream(reader, reader.uint32(), `${prefix}.entries[]`, {
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
                        case 2: {
                            yield {
                                field: `${prefix}.name`,
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
        return encodeMessage(obj, Make.codec());
    }
    Make.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Make.codec(), opts);
    }
    Make.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Make.codec(), opts);
    }
    Make.stream = stream;
})(Make || (Make = {}));
export var MakeEntry;
(function (MakeEntry) {
    let _codec;
    MakeEntry.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.path != null && obj.path !== '')) {
                    w.uint32(10);
                    w.string(obj.path);
                }
                if ((obj.root != null && obj.root.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.root);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    path: '',
                    root: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.path = reader.string();
                            break;
                        }
                        case 2: {
                            obj.root = reader.bytes();
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
                                field: `${prefix}.path`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.root`,
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
        return encodeMessage(obj, MakeEntry.codec());
    }
    MakeEntry.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, MakeEntry.codec(), opts);
    }
    MakeEntry.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, MakeEntry.codec(), opts);
    }
    MakeEntry.stream = stream;
})(MakeEntry || (MakeEntry = {}));
export var Grant;
(function (Grant) {
    let _codec;
    Grant.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.client != null && obj.client !== '')) {
                    w.uint32(10);
                    w.string(obj.client);
                }
                if ((obj.settings != null && obj.settings.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.settings);
                }
                if (obj.member != null) {
                    w.uint32(24);
                    w.bool(obj.member);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    client: '',
                    settings: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.client = reader.string();
                            break;
                        }
                        case 2: {
                            obj.settings = reader.bytes();
                            break;
                        }
                        case 3: {
                            obj.member = reader.bool();
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
                                field: `${prefix}.client`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.settings`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.member`,
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
        return encodeMessage(obj, Grant.codec());
    }
    Grant.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Grant.codec(), opts);
    }
    Grant.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Grant.codec(), opts);
    }
    Grant.stream = stream;
})(Grant || (Grant = {}));
export var Ban;
(function (Ban) {
    let _codec;
    Ban.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.kind != null && obj.kind !== '')) {
                    w.uint32(10);
                    w.string(obj.kind);
                }
                if ((obj.value != null && obj.value !== '')) {
                    w.uint32(18);
                    w.string(obj.value);
                }
                if ((obj.reason != null && obj.reason !== '')) {
                    w.uint32(26);
                    w.string(obj.reason);
                }
                if ((obj.lift != null && obj.lift !== false)) {
                    w.uint32(32);
                    w.bool(obj.lift);
                }
                if ((obj.dryRun != null && obj.dryRun !== false)) {
                    w.uint32(40);
                    w.bool(obj.dryRun);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    kind: '',
                    value: '',
                    reason: '',
                    lift: false,
                    dryRun: false
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.kind = reader.string();
                            break;
                        }
                        case 2: {
                            obj.value = reader.string();
                            break;
                        }
                        case 3: {
                            obj.reason = reader.string();
                            break;
                        }
                        case 4: {
                            obj.lift = reader.bool();
                            break;
                        }
                        case 5: {
                            obj.dryRun = reader.bool();
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
                                field: `${prefix}.kind`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.value`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.reason`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.lift`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.dryRun`,
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
        return encodeMessage(obj, Ban.codec());
    }
    Ban.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Ban.codec(), opts);
    }
    Ban.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Ban.codec(), opts);
    }
    Ban.stream = stream;
})(Ban || (Ban = {}));
