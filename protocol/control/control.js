// Generated from control.proto by `npm run proto`.
/* eslint-disable require-yield */
import { decodeMessage, encodeMessage, MaxLengthError, message, streamMessage } from 'protons-runtime';
import { alloc as uint8ArrayAlloc } from 'uint8arrays/alloc';
export var Frame;
(function (Frame) {
    let _codec;
    Frame.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.seq != null && obj.seq !== 0)) {
                    w.uint32(8);
                    w.uint64Number(obj.seq);
                }
                if ((obj.ack != null && obj.ack !== 0)) {
                    w.uint32(16);
                    w.uint64Number(obj.ack);
                }
                if (obj.before != null) {
                    w.uint32(24);
                    w.uint64Number(obj.before);
                }
                if (obj.hello != null) {
                    w.uint32(82);
                    Hello.codec().encode(obj.hello, w);
                }
                if (obj.demand != null) {
                    w.uint32(90);
                    Demand.codec().encode(obj.demand, w);
                }
                if (obj.heartbeat != null) {
                    w.uint32(98);
                    Heartbeat.codec().encode(obj.heartbeat, w);
                }
                if (obj.holdings != null) {
                    w.uint32(146);
                    Holdings.codec().encode(obj.holdings, w);
                }
                if (obj.crashed != null) {
                    w.uint32(154);
                    Crashed.codec().encode(obj.crashed, w);
                }
                if (obj.parked != null) {
                    w.uint32(170);
                    Parked.codec().encode(obj.parked, w);
                }
                if (obj.checkpoints != null) {
                    w.uint32(178);
                    Checkpoints.codec().encode(obj.checkpoints, w);
                }
                if (obj.start != null) {
                    w.uint32(106);
                    Start.codec().encode(obj.start, w);
                }
                if (obj.progress != null) {
                    w.uint32(114);
                    Progress.codec().encode(obj.progress, w);
                }
                if (obj.reports != null) {
                    w.uint32(122);
                    Reports.codec().encode(obj.reports, w);
                }
                if (obj.returned != null) {
                    w.uint32(130);
                    Returned.codec().encode(obj.returned, w);
                }
                if (obj.bye != null) {
                    w.uint32(138);
                    Bye.codec().encode(obj.bye, w);
                }
                if (obj.commits != null) {
                    w.uint32(162);
                    Commits.codec().encode(obj.commits, w);
                }
                if (obj.welcome != null) {
                    w.uint32(242);
                    Welcome.codec().encode(obj.welcome, w);
                }
                if (obj.refused != null) {
                    w.uint32(250);
                    Refused.codec().encode(obj.refused, w);
                }
                if (obj.next != null) {
                    w.uint32(298);
                    Next.codec().encode(obj.next, w);
                }
                if (obj.taken != null) {
                    w.uint32(306);
                    Taken.codec().encode(obj.taken, w);
                }
                if (obj.assign != null) {
                    w.uint32(258);
                    Assign.codec().encode(obj.assign, w);
                }
                if (obj.grant != null) {
                    w.uint32(266);
                    Grant.codec().encode(obj.grant, w);
                }
                if (obj.cancel != null) {
                    w.uint32(274);
                    Cancel.codec().encode(obj.cancel, w);
                }
                if (obj.release != null) {
                    w.uint32(282);
                    Release.codec().encode(obj.release, w);
                }
                if (obj.reveal != null) {
                    w.uint32(290);
                    Reveal.codec().encode(obj.reveal, w);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    seq: 0,
                    ack: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.seq = reader.uint64Number();
                            break;
                        }
                        case 2: {
                            obj.ack = reader.uint64Number();
                            break;
                        }
                        case 3: {
                            obj.before = reader.uint64Number();
                            break;
                        }
                        case 10: {
                            obj.hello = Hello.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.hello
                            });
                            break;
                        }
                        case 11: {
                            obj.demand = Demand.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.demand
                            });
                            break;
                        }
                        case 12: {
                            obj.heartbeat = Heartbeat.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.heartbeat
                            });
                            break;
                        }
                        case 18: {
                            obj.holdings = Holdings.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.holdings
                            });
                            break;
                        }
                        case 19: {
                            obj.crashed = Crashed.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.crashed
                            });
                            break;
                        }
                        case 21: {
                            obj.parked = Parked.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.parked
                            });
                            break;
                        }
                        case 22: {
                            obj.checkpoints = Checkpoints.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.checkpoints
                            });
                            break;
                        }
                        case 13: {
                            obj.start = Start.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.start
                            });
                            break;
                        }
                        case 14: {
                            obj.progress = Progress.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.progress
                            });
                            break;
                        }
                        case 15: {
                            obj.reports = Reports.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.reports
                            });
                            break;
                        }
                        case 16: {
                            obj.returned = Returned.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.returned
                            });
                            break;
                        }
                        case 17: {
                            obj.bye = Bye.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.bye
                            });
                            break;
                        }
                        case 20: {
                            obj.commits = Commits.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.commits
                            });
                            break;
                        }
                        case 30: {
                            obj.welcome = Welcome.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.welcome
                            });
                            break;
                        }
                        case 31: {
                            obj.refused = Refused.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.refused
                            });
                            break;
                        }
                        case 37: {
                            obj.next = Next.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.next
                            });
                            break;
                        }
                        case 38: {
                            obj.taken = Taken.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.taken
                            });
                            break;
                        }
                        case 32: {
                            obj.assign = Assign.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.assign
                            });
                            break;
                        }
                        case 33: {
                            obj.grant = Grant.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.grant
                            });
                            break;
                        }
                        case 34: {
                            obj.cancel = Cancel.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.cancel
                            });
                            break;
                        }
                        case 35: {
                            obj.release = Release.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.release
                            });
                            break;
                        }
                        case 36: {
                            obj.reveal = Reveal.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.reveal
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
                                field: `${prefix}.seq`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.ack`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.before`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 10: {
                            yield* Hello.codec().stream(reader, reader.uint32(), `${prefix}.hello`, {
                                limits: opts.limits?.hello
                            });
                            break;
                        }
                        case 11: {
                            yield* Demand.codec().stream(reader, reader.uint32(), `${prefix}.demand`, {
                                limits: opts.limits?.demand
                            });
                            break;
                        }
                        case 12: {
                            yield* Heartbeat.codec().stream(reader, reader.uint32(), `${prefix}.heartbeat`, {
                                limits: opts.limits?.heartbeat
                            });
                            break;
                        }
                        case 18: {
                            yield* Holdings.codec().stream(reader, reader.uint32(), `${prefix}.holdings`, {
                                limits: opts.limits?.holdings
                            });
                            break;
                        }
                        case 19: {
                            yield* Crashed.codec().stream(reader, reader.uint32(), `${prefix}.crashed`, {
                                limits: opts.limits?.crashed
                            });
                            break;
                        }
                        case 21: {
                            yield* Parked.codec().stream(reader, reader.uint32(), `${prefix}.parked`, {
                                limits: opts.limits?.parked
                            });
                            break;
                        }
                        case 22: {
                            yield* Checkpoints.codec().stream(reader, reader.uint32(), `${prefix}.checkpoints`, {
                                limits: opts.limits?.checkpoints
                            });
                            break;
                        }
                        case 13: {
                            yield* Start.codec().stream(reader, reader.uint32(), `${prefix}.start`, {
                                limits: opts.limits?.start
                            });
                            break;
                        }
                        case 14: {
                            yield* Progress.codec().stream(reader, reader.uint32(), `${prefix}.progress`, {
                                limits: opts.limits?.progress
                            });
                            break;
                        }
                        case 15: {
                            yield* Reports.codec().stream(reader, reader.uint32(), `${prefix}.reports`, {
                                limits: opts.limits?.reports
                            });
                            break;
                        }
                        case 16: {
                            yield* Returned.codec().stream(reader, reader.uint32(), `${prefix}.returned`, {
                                limits: opts.limits?.returned
                            });
                            break;
                        }
                        case 17: {
                            yield* Bye.codec().stream(reader, reader.uint32(), `${prefix}.bye`, {
                                limits: opts.limits?.bye
                            });
                            break;
                        }
                        case 20: {
                            yield* Commits.codec().stream(reader, reader.uint32(), `${prefix}.commits`, {
                                limits: opts.limits?.commits
                            });
                            break;
                        }
                        case 30: {
                            yield* Welcome.codec().stream(reader, reader.uint32(), `${prefix}.welcome`, {
                                limits: opts.limits?.welcome
                            });
                            break;
                        }
                        case 31: {
                            yield* Refused.codec().stream(reader, reader.uint32(), `${prefix}.refused`, {
                                limits: opts.limits?.refused
                            });
                            break;
                        }
                        case 37: {
                            yield* Next.codec().stream(reader, reader.uint32(), `${prefix}.next`, {
                                limits: opts.limits?.next
                            });
                            break;
                        }
                        case 38: {
                            yield* Taken.codec().stream(reader, reader.uint32(), `${prefix}.taken`, {
                                limits: opts.limits?.taken
                            });
                            break;
                        }
                        case 32: {
                            yield* Assign.codec().stream(reader, reader.uint32(), `${prefix}.assign`, {
                                limits: opts.limits?.assign
                            });
                            break;
                        }
                        case 33: {
                            yield* Grant.codec().stream(reader, reader.uint32(), `${prefix}.grant`, {
                                limits: opts.limits?.grant
                            });
                            break;
                        }
                        case 34: {
                            yield* Cancel.codec().stream(reader, reader.uint32(), `${prefix}.cancel`, {
                                limits: opts.limits?.cancel
                            });
                            break;
                        }
                        case 35: {
                            yield* Release.codec().stream(reader, reader.uint32(), `${prefix}.release`, {
                                limits: opts.limits?.release
                            });
                            break;
                        }
                        case 36: {
                            yield* Reveal.codec().stream(reader, reader.uint32(), `${prefix}.reveal`, {
                                limits: opts.limits?.reveal
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
        return encodeMessage(obj, Frame.codec());
    }
    Frame.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Frame.codec(), opts);
    }
    Frame.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Frame.codec(), opts);
    }
    Frame.stream = stream;
})(Frame || (Frame = {}));
export var Hello;
(function (Hello) {
    let _codec;
    Hello.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.versions != null && obj.versions.length > 0) {
                    for (const value of obj.versions) {
                        w.uint32(8);
                        w.uint32(value);
                    }
                }
                if ((obj.link != null && obj.link.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.link);
                }
                if ((obj.received != null && obj.received !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.received);
                }
                if ((obj.project != null && obj.project !== '')) {
                    w.uint32(34);
                    w.string(obj.project);
                }
                if (obj.capabilities != null) {
                    w.uint32(42);
                    Capabilities.codec().encode(obj.capabilities, w);
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(50);
                        w.string(value);
                    }
                }
                if ((obj.agent != null && obj.agent !== '')) {
                    w.uint32(58);
                    w.string(obj.agent);
                }
                if ((obj.name != null && obj.name !== '')) {
                    w.uint32(66);
                    w.string(obj.name);
                }
                if (obj.demand != null) {
                    w.uint32(74);
                    Demand.codec().encode(obj.demand, w);
                }
                if (obj.holdings != null && obj.holdings.length > 0) {
                    for (const value of obj.holdings) {
                        w.uint32(114);
                        Holding.codec().encode(value, w);
                    }
                }
                if ((obj.spare != null && obj.spare.byteLength > 0)) {
                    w.uint32(122);
                    w.bytes(obj.spare);
                }
                if (obj.next != null) {
                    w.uint32(128);
                    w.uint32(obj.next);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    versions: [],
                    link: uint8ArrayAlloc(0),
                    received: 0,
                    project: '',
                    replicas: [],
                    agent: '',
                    name: '',
                    holdings: [],
                    spare: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.versions != null && obj.versions.length === opts.limits.versions) {
                                throw new MaxLengthError('Decode error - repeated field "versions" had too many elements');
                            }
                            obj.versions.push(reader.uint32());
                            break;
                        }
                        case 2: {
                            obj.link = reader.bytes();
                            break;
                        }
                        case 3: {
                            obj.received = reader.uint64Number();
                            break;
                        }
                        case 4: {
                            obj.project = reader.string();
                            break;
                        }
                        case 5: {
                            obj.capabilities = Capabilities.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.capabilities
                            });
                            break;
                        }
                        case 6: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(reader.string());
                            break;
                        }
                        case 7: {
                            obj.agent = reader.string();
                            break;
                        }
                        case 8: {
                            obj.name = reader.string();
                            break;
                        }
                        case 9: {
                            obj.demand = Demand.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.demand
                            });
                            break;
                        }
                        case 14: {
                            if (opts.limits?.holdings != null && obj.holdings.length === opts.limits.holdings) {
                                throw new MaxLengthError('Decode error - repeated field "holdings" had too many elements');
                            }
                            obj.holdings.push(Holding.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.holdings$
                            }));
                            break;
                        }
                        case 15: {
                            obj.spare = reader.bytes();
                            break;
                        }
                        case 16: {
                            obj.next = reader.uint32();
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
                    versions: 0,
                    replicas: 0,
                    holdings: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.versions != null && obj.versions === opts.limits.versions) {
                                throw new MaxLengthError('Streaming decode error - repeated field "versions" had too many elements');
                            }
                            yield {
                                field: `${prefix}.versions[]`,
                                index: obj.versions,
                                value: reader.uint32()
                            };
                            obj.versions++;
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.link`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.received`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.project`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 5: {
                            yield* Capabilities.codec().stream(reader, reader.uint32(), `${prefix}.capabilities`, {
                                limits: opts.limits?.capabilities
                            });
                            break;
                        }
                        case 6: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            yield {
                                field: `${prefix}.replicas[]`,
                                index: obj.replicas,
                                value: reader.string()
                            };
                            obj.replicas++;
                            break;
                        }
                        case 7: {
                            yield {
                                field: `${prefix}.agent`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 8: {
                            yield {
                                field: `${prefix}.name`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 9: {
                            yield* Demand.codec().stream(reader, reader.uint32(), `${prefix}.demand`, {
                                limits: opts.limits?.demand
                            });
                            break;
                        }
                        case 14: {
                            if (opts.limits?.holdings != null && obj.holdings === opts.limits.holdings) {
                                throw new MaxLengthError('Streaming decode error - repeated field "holdings" had too many elements');
                            }
                            for (const evt of Holding.codec().stream(reader, reader.uint32(), `${prefix}.holdings[]`, {
                                limits: opts.limits?.holdings$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.holdings
                                };
                            }
                            obj.holdings++;
                            break;
                        }
                        case 15: {
                            yield {
                                field: `${prefix}.spare`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 16: {
                            yield {
                                field: `${prefix}.next`,
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
        return encodeMessage(obj, Hello.codec());
    }
    Hello.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Hello.codec(), opts);
    }
    Hello.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Hello.codec(), opts);
    }
    Hello.stream = stream;
})(Hello || (Hello = {}));
export var Capabilities;
(function (Capabilities) {
    let _codec;
    Capabilities.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.platform != null && obj.platform !== '')) {
                    w.uint32(10);
                    w.string(obj.platform);
                }
                if (obj.engines != null && obj.engines.length > 0) {
                    for (const value of obj.engines) {
                        w.uint32(18);
                        w.string(value);
                    }
                }
                if ((obj.cpuMillis != null && obj.cpuMillis !== 0)) {
                    w.uint32(24);
                    w.uint32(obj.cpuMillis);
                }
                if ((obj.memoryBytes != null && obj.memoryBytes !== 0)) {
                    w.uint32(32);
                    w.uint64Number(obj.memoryBytes);
                }
                if ((obj.diskBytes != null && obj.diskBytes !== 0)) {
                    w.uint32(40);
                    w.uint64Number(obj.diskBytes);
                }
                if ((obj.slots != null && obj.slots !== 0)) {
                    w.uint32(48);
                    w.uint32(obj.slots);
                }
                if (obj.cores != null) {
                    w.uint32(112);
                    w.uint32(obj.cores);
                }
                if (obj.tags != null && obj.tags.length > 0) {
                    for (const value of obj.tags) {
                        w.uint32(58);
                        w.string(value);
                    }
                }
                if (obj.gpus != null && obj.gpus.length > 0) {
                    for (const value of obj.gpus) {
                        w.uint32(66);
                        Gpu.codec().encode(value, w);
                    }
                }
                if (obj.exclusive != null && obj.exclusive.length > 0) {
                    for (const value of obj.exclusive) {
                        w.uint32(74);
                        w.string(value);
                    }
                }
                if ((obj.ownerOnly != null && obj.ownerOnly !== false)) {
                    w.uint32(80);
                    w.bool(obj.ownerOnly);
                }
                if (obj.owner != null) {
                    w.uint32(90);
                    Owner.codec().encode(obj.owner, w);
                }
                if (obj.cpu != null) {
                    w.uint32(98);
                    w.string(obj.cpu);
                }
                if (obj.groups != null && obj.groups.length > 0) {
                    for (const value of obj.groups) {
                        w.uint32(106);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    platform: '',
                    engines: [],
                    cpuMillis: 0,
                    memoryBytes: 0,
                    diskBytes: 0,
                    slots: 0,
                    tags: [],
                    gpus: [],
                    exclusive: [],
                    ownerOnly: false,
                    groups: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.platform = reader.string();
                            break;
                        }
                        case 2: {
                            if (opts.limits?.engines != null && obj.engines.length === opts.limits.engines) {
                                throw new MaxLengthError('Decode error - repeated field "engines" had too many elements');
                            }
                            obj.engines.push(reader.string());
                            break;
                        }
                        case 3: {
                            obj.cpuMillis = reader.uint32();
                            break;
                        }
                        case 4: {
                            obj.memoryBytes = reader.uint64Number();
                            break;
                        }
                        case 5: {
                            obj.diskBytes = reader.uint64Number();
                            break;
                        }
                        case 6: {
                            obj.slots = reader.uint32();
                            break;
                        }
                        case 14: {
                            obj.cores = reader.uint32();
                            break;
                        }
                        case 7: {
                            if (opts.limits?.tags != null && obj.tags.length === opts.limits.tags) {
                                throw new MaxLengthError('Decode error - repeated field "tags" had too many elements');
                            }
                            obj.tags.push(reader.string());
                            break;
                        }
                        case 8: {
                            if (opts.limits?.gpus != null && obj.gpus.length === opts.limits.gpus) {
                                throw new MaxLengthError('Decode error - repeated field "gpus" had too many elements');
                            }
                            obj.gpus.push(Gpu.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.gpus$
                            }));
                            break;
                        }
                        case 9: {
                            if (opts.limits?.exclusive != null && obj.exclusive.length === opts.limits.exclusive) {
                                throw new MaxLengthError('Decode error - repeated field "exclusive" had too many elements');
                            }
                            obj.exclusive.push(reader.string());
                            break;
                        }
                        case 10: {
                            obj.ownerOnly = reader.bool();
                            break;
                        }
                        case 11: {
                            obj.owner = Owner.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.owner
                            });
                            break;
                        }
                        case 12: {
                            obj.cpu = reader.string();
                            break;
                        }
                        case 13: {
                            if (opts.limits?.groups != null && obj.groups.length === opts.limits.groups) {
                                throw new MaxLengthError('Decode error - repeated field "groups" had too many elements');
                            }
                            obj.groups.push(reader.string());
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
                    engines: 0,
                    tags: 0,
                    gpus: 0,
                    exclusive: 0,
                    groups: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.platform`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            if (opts.limits?.engines != null && obj.engines === opts.limits.engines) {
                                throw new MaxLengthError('Streaming decode error - repeated field "engines" had too many elements');
                            }
                            yield {
                                field: `${prefix}.engines[]`,
                                index: obj.engines,
                                value: reader.string()
                            };
                            obj.engines++;
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.cpuMillis`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.memoryBytes`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.diskBytes`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 6: {
                            yield {
                                field: `${prefix}.slots`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 14: {
                            yield {
                                field: `${prefix}.cores`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 7: {
                            if (opts.limits?.tags != null && obj.tags === opts.limits.tags) {
                                throw new MaxLengthError('Streaming decode error - repeated field "tags" had too many elements');
                            }
                            yield {
                                field: `${prefix}.tags[]`,
                                index: obj.tags,
                                value: reader.string()
                            };
                            obj.tags++;
                            break;
                        }
                        case 8: {
                            if (opts.limits?.gpus != null && obj.gpus === opts.limits.gpus) {
                                throw new MaxLengthError('Streaming decode error - repeated field "gpus" had too many elements');
                            }
                            for (const evt of Gpu.codec().stream(reader, reader.uint32(), `${prefix}.gpus[]`, {
                                limits: opts.limits?.gpus$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.gpus
                                };
                            }
                            obj.gpus++;
                            break;
                        }
                        case 9: {
                            if (opts.limits?.exclusive != null && obj.exclusive === opts.limits.exclusive) {
                                throw new MaxLengthError('Streaming decode error - repeated field "exclusive" had too many elements');
                            }
                            yield {
                                field: `${prefix}.exclusive[]`,
                                index: obj.exclusive,
                                value: reader.string()
                            };
                            obj.exclusive++;
                            break;
                        }
                        case 10: {
                            yield {
                                field: `${prefix}.ownerOnly`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 11: {
                            yield* Owner.codec().stream(reader, reader.uint32(), `${prefix}.owner`, {
                                limits: opts.limits?.owner
                            });
                            break;
                        }
                        case 12: {
                            yield {
                                field: `${prefix}.cpu`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 13: {
                            if (opts.limits?.groups != null && obj.groups === opts.limits.groups) {
                                throw new MaxLengthError('Streaming decode error - repeated field "groups" had too many elements');
                            }
                            yield {
                                field: `${prefix}.groups[]`,
                                index: obj.groups,
                                value: reader.string()
                            };
                            obj.groups++;
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
        return encodeMessage(obj, Capabilities.codec());
    }
    Capabilities.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Capabilities.codec(), opts);
    }
    Capabilities.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Capabilities.codec(), opts);
    }
    Capabilities.stream = stream;
})(Capabilities || (Capabilities = {}));
export var Gpu;
(function (Gpu) {
    let _codec;
    Gpu.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.uuid != null && obj.uuid !== '')) {
                    w.uint32(10);
                    w.string(obj.uuid);
                }
                if ((obj.model != null && obj.model !== '')) {
                    w.uint32(18);
                    w.string(obj.model);
                }
                if ((obj.memoryBytes != null && obj.memoryBytes !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.memoryBytes);
                }
                if ((obj.driver != null && obj.driver !== '')) {
                    w.uint32(34);
                    w.string(obj.driver);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    uuid: '',
                    model: '',
                    memoryBytes: 0,
                    driver: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.uuid = reader.string();
                            break;
                        }
                        case 2: {
                            obj.model = reader.string();
                            break;
                        }
                        case 3: {
                            obj.memoryBytes = reader.uint64Number();
                            break;
                        }
                        case 4: {
                            obj.driver = reader.string();
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
                                field: `${prefix}.uuid`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.model`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.memoryBytes`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.driver`,
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
        return encodeMessage(obj, Gpu.codec());
    }
    Gpu.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Gpu.codec(), opts);
    }
    Gpu.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Gpu.codec(), opts);
    }
    Gpu.stream = stream;
})(Gpu || (Gpu = {}));
export var Owner;
(function (Owner) {
    let _codec;
    Owner.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.client != null && obj.client !== '')) {
                    w.uint32(10);
                    w.string(obj.client);
                }
                if ((obj.signature != null && obj.signature.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.signature);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    client: '',
                    signature: uint8ArrayAlloc(0)
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
                            obj.signature = reader.bytes();
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
                                field: `${prefix}.signature`,
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
        return encodeMessage(obj, Owner.codec());
    }
    Owner.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Owner.codec(), opts);
    }
    Owner.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Owner.codec(), opts);
    }
    Owner.stream = stream;
})(Owner || (Owner = {}));
export var Demand;
(function (Demand) {
    let _codec;
    Demand.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.slots != null && obj.slots !== 0)) {
                    w.uint32(8);
                    w.uint32(obj.slots);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    slots: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.slots = reader.uint32();
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
                                field: `${prefix}.slots`,
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
        return encodeMessage(obj, Demand.codec());
    }
    Demand.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Demand.codec(), opts);
    }
    Demand.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Demand.codec(), opts);
    }
    Demand.stream = stream;
})(Demand || (Demand = {}));
export var Heartbeat;
(function (Heartbeat) {
    let _codec;
    Heartbeat.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
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
        return encodeMessage(obj, Heartbeat.codec());
    }
    Heartbeat.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Heartbeat.codec(), opts);
    }
    Heartbeat.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Heartbeat.codec(), opts);
    }
    Heartbeat.stream = stream;
})(Heartbeat || (Heartbeat = {}));
export var Holdings;
(function (Holdings) {
    let _codec;
    Holdings.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.got != null && obj.got.length > 0) {
                    for (const value of obj.got) {
                        w.uint32(10);
                        Holding.codec().encode(value, w);
                    }
                }
                if (obj.dropped != null && obj.dropped.length > 0) {
                    for (const value of obj.dropped) {
                        w.uint32(18);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    got: [],
                    dropped: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.got != null && obj.got.length === opts.limits.got) {
                                throw new MaxLengthError('Decode error - repeated field "got" had too many elements');
                            }
                            obj.got.push(Holding.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.got$
                            }));
                            break;
                        }
                        case 2: {
                            if (opts.limits?.dropped != null && obj.dropped.length === opts.limits.dropped) {
                                throw new MaxLengthError('Decode error - repeated field "dropped" had too many elements');
                            }
                            obj.dropped.push(reader.string());
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
                    got: 0,
                    dropped: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.got != null && obj.got === opts.limits.got) {
                                throw new MaxLengthError('Streaming decode error - repeated field "got" had too many elements');
                            }
                            for (const evt of Holding.codec().stream(reader, reader.uint32(), `${prefix}.got[]`, {
                                limits: opts.limits?.got$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.got
                                };
                            }
                            obj.got++;
                            break;
                        }
                        case 2: {
                            if (opts.limits?.dropped != null && obj.dropped === opts.limits.dropped) {
                                throw new MaxLengthError('Streaming decode error - repeated field "dropped" had too many elements');
                            }
                            yield {
                                field: `${prefix}.dropped[]`,
                                index: obj.dropped,
                                value: reader.string()
                            };
                            obj.dropped++;
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
        return encodeMessage(obj, Holdings.codec());
    }
    Holdings.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Holdings.codec(), opts);
    }
    Holdings.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Holdings.codec(), opts);
    }
    Holdings.stream = stream;
})(Holdings || (Holdings = {}));
export var Crashed;
(function (Crashed) {
    let _codec;
    Crashed.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        LastWords.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(LastWords.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of LastWords.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Crashed.codec());
    }
    Crashed.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Crashed.codec(), opts);
    }
    Crashed.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Crashed.codec(), opts);
    }
    Crashed.stream = stream;
})(Crashed || (Crashed = {}));
export var LastWords;
(function (LastWords) {
    let _codec;
    LastWords.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.log != null && obj.log !== '')) {
                    w.uint32(18);
                    w.string(obj.log);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    log: ''
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
                            obj.log = reader.string();
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
                                field: `${prefix}.log`,
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
        return encodeMessage(obj, LastWords.codec());
    }
    LastWords.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, LastWords.codec(), opts);
    }
    LastWords.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, LastWords.codec(), opts);
    }
    LastWords.stream = stream;
})(LastWords || (LastWords = {}));
export var Parked;
(function (Parked) {
    let _codec;
    Parked.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.results != null && obj.results.length > 0) {
                    for (const value of obj.results) {
                        w.uint32(10);
                        ParkedOne.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    results: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.results != null && obj.results.length === opts.limits.results) {
                                throw new MaxLengthError('Decode error - repeated field "results" had too many elements');
                            }
                            obj.results.push(ParkedOne.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.results$
                            }));
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
                    results: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.results != null && obj.results === opts.limits.results) {
                                throw new MaxLengthError('Streaming decode error - repeated field "results" had too many elements');
                            }
                            for (const evt of ParkedOne.codec().stream(reader, reader.uint32(), `${prefix}.results[]`, {
                                limits: opts.limits?.results$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.results
                                };
                            }
                            obj.results++;
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
        return encodeMessage(obj, Parked.codec());
    }
    Parked.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Parked.codec(), opts);
    }
    Parked.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Parked.codec(), opts);
    }
    Parked.stream = stream;
})(Parked || (Parked = {}));
export var ParkedOne;
(function (ParkedOne) {
    let _codec;
    ParkedOne.codec = () => {
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
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    result: uint8ArrayAlloc(0),
                    signature: uint8ArrayAlloc(0)
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
        return encodeMessage(obj, ParkedOne.codec());
    }
    ParkedOne.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, ParkedOne.codec(), opts);
    }
    ParkedOne.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, ParkedOne.codec(), opts);
    }
    ParkedOne.stream = stream;
})(ParkedOne || (ParkedOne = {}));
export var Holding;
(function (Holding) {
    let _codec;
    Holding.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.root != null && obj.root !== '')) {
                    w.uint32(10);
                    w.string(obj.root);
                }
                if ((obj.bytes != null && obj.bytes !== 0)) {
                    w.uint32(16);
                    w.uint64Number(obj.bytes);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    root: '',
                    bytes: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.root = reader.string();
                            break;
                        }
                        case 2: {
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
                                field: `${prefix}.root`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
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
        return encodeMessage(obj, Holding.codec());
    }
    Holding.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Holding.codec(), opts);
    }
    Holding.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Holding.codec(), opts);
    }
    Holding.stream = stream;
})(Holding || (Holding = {}));
export var Checkpoints;
(function (Checkpoints) {
    let _codec;
    Checkpoints.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        CheckpointOne.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(CheckpointOne.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of CheckpointOne.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Checkpoints.codec());
    }
    Checkpoints.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Checkpoints.codec(), opts);
    }
    Checkpoints.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Checkpoints.codec(), opts);
    }
    Checkpoints.stream = stream;
})(Checkpoints || (Checkpoints = {}));
export var CheckpointOne;
(function (CheckpointOne) {
    let _codec;
    CheckpointOne.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.root != null && obj.root !== '')) {
                    w.uint32(18);
                    w.string(obj.root);
                }
                if ((obj.bytes != null && obj.bytes !== 0)) {
                    w.uint32(24);
                    w.uint64Number(obj.bytes);
                }
                if (obj.last != null) {
                    w.uint32(32);
                    w.bool(obj.last);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    root: '',
                    bytes: 0
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
                            obj.root = reader.string();
                            break;
                        }
                        case 3: {
                            obj.bytes = reader.uint64Number();
                            break;
                        }
                        case 4: {
                            obj.last = reader.bool();
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
                                field: `${prefix}.root`,
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
                                field: `${prefix}.last`,
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
        return encodeMessage(obj, CheckpointOne.codec());
    }
    CheckpointOne.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, CheckpointOne.codec(), opts);
    }
    CheckpointOne.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, CheckpointOne.codec(), opts);
    }
    CheckpointOne.stream = stream;
})(CheckpointOne || (CheckpointOne = {}));
export var Welcome;
(function (Welcome) {
    let _codec;
    Welcome.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.version != null && obj.version !== 0)) {
                    w.uint32(8);
                    w.uint32(obj.version);
                }
                if ((obj.epoch != null && obj.epoch !== 0)) {
                    w.uint32(16);
                    w.uint64Number(obj.epoch);
                }
                if ((obj.resumed != null && obj.resumed !== false)) {
                    w.uint32(24);
                    w.bool(obj.resumed);
                }
                if ((obj.received != null && obj.received !== 0)) {
                    w.uint32(32);
                    w.uint64Number(obj.received);
                }
                if ((obj.heartbeatMs != null && obj.heartbeatMs !== 0)) {
                    w.uint32(40);
                    w.uint32(obj.heartbeatMs);
                }
                if (obj.unknown != null && obj.unknown.length > 0) {
                    for (const value of obj.unknown) {
                        w.uint32(50);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    version: 0,
                    epoch: 0,
                    resumed: false,
                    received: 0,
                    heartbeatMs: 0,
                    unknown: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.version = reader.uint32();
                            break;
                        }
                        case 2: {
                            obj.epoch = reader.uint64Number();
                            break;
                        }
                        case 3: {
                            obj.resumed = reader.bool();
                            break;
                        }
                        case 4: {
                            obj.received = reader.uint64Number();
                            break;
                        }
                        case 5: {
                            obj.heartbeatMs = reader.uint32();
                            break;
                        }
                        case 6: {
                            if (opts.limits?.unknown != null && obj.unknown.length === opts.limits.unknown) {
                                throw new MaxLengthError('Decode error - repeated field "unknown" had too many elements');
                            }
                            obj.unknown.push(reader.string());
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
                    unknown: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            yield {
                                field: `${prefix}.version`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.epoch`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.resumed`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.received`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 5: {
                            yield {
                                field: `${prefix}.heartbeatMs`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 6: {
                            if (opts.limits?.unknown != null && obj.unknown === opts.limits.unknown) {
                                throw new MaxLengthError('Streaming decode error - repeated field "unknown" had too many elements');
                            }
                            yield {
                                field: `${prefix}.unknown[]`,
                                index: obj.unknown,
                                value: reader.string()
                            };
                            obj.unknown++;
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
        return encodeMessage(obj, Welcome.codec());
    }
    Welcome.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Welcome.codec(), opts);
    }
    Welcome.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Welcome.codec(), opts);
    }
    Welcome.stream = stream;
})(Welcome || (Welcome = {}));
export var Refused;
(function (Refused) {
    let _codec;
    Refused.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.code != null && obj.code !== '')) {
                    w.uint32(10);
                    w.string(obj.code);
                }
                if ((obj.message != null && obj.message !== '')) {
                    w.uint32(18);
                    w.string(obj.message);
                }
                if ((obj.retryMs != null && obj.retryMs !== 0)) {
                    w.uint32(24);
                    w.uint32(obj.retryMs);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    code: '',
                    message: '',
                    retryMs: 0
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
                            obj.message = reader.string();
                            break;
                        }
                        case 3: {
                            obj.retryMs = reader.uint32();
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
                                field: `${prefix}.message`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.retryMs`,
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
        return encodeMessage(obj, Refused.codec());
    }
    Refused.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Refused.codec(), opts);
    }
    Refused.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Refused.codec(), opts);
    }
    Refused.stream = stream;
})(Refused || (Refused = {}));
export var Next;
(function (Next) {
    let _codec;
    Next.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.manifests != null && obj.manifests.length > 0) {
                    for (const value of obj.manifests) {
                        w.uint32(10);
                        w.bytes(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    manifests: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.manifests != null && obj.manifests.length === opts.limits.manifests) {
                                throw new MaxLengthError('Decode error - repeated field "manifests" had too many elements');
                            }
                            obj.manifests.push(reader.bytes());
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
        return encodeMessage(obj, Next.codec());
    }
    Next.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Next.codec(), opts);
    }
    Next.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Next.codec(), opts);
    }
    Next.stream = stream;
})(Next || (Next = {}));
export var Taken;
(function (Taken) {
    let _codec;
    Taken.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        TakenOne.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(TakenOne.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of TakenOne.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Taken.codec());
    }
    Taken.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Taken.codec(), opts);
    }
    Taken.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Taken.codec(), opts);
    }
    Taken.stream = stream;
})(Taken || (Taken = {}));
export var TakenOne;
(function (TakenOne) {
    let _codec;
    TakenOne.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.root != null && obj.root !== '')) {
                    w.uint32(18);
                    w.string(obj.root);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    root: ''
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
                            obj.root = reader.string();
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
                                field: `${prefix}.root`,
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
        return encodeMessage(obj, TakenOne.codec());
    }
    TakenOne.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, TakenOne.codec(), opts);
    }
    TakenOne.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, TakenOne.codec(), opts);
    }
    TakenOne.stream = stream;
})(TakenOne || (TakenOne = {}));
export var Assign;
(function (Assign) {
    let _codec;
    Assign.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.leases != null && obj.leases.length > 0) {
                    for (const value of obj.leases) {
                        w.uint32(10);
                        Lease.codec().encode(value, w);
                    }
                }
                if ((obj.signature != null && obj.signature.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.signature);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    leases: [],
                    signature: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.leases != null && obj.leases.length === opts.limits.leases) {
                                throw new MaxLengthError('Decode error - repeated field "leases" had too many elements');
                            }
                            obj.leases.push(Lease.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.leases$
                            }));
                            break;
                        }
                        case 2: {
                            obj.signature = reader.bytes();
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
                    leases: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.leases != null && obj.leases === opts.limits.leases) {
                                throw new MaxLengthError('Streaming decode error - repeated field "leases" had too many elements');
                            }
                            for (const evt of Lease.codec().stream(reader, reader.uint32(), `${prefix}.leases[]`, {
                                limits: opts.limits?.leases$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.leases
                                };
                            }
                            obj.leases++;
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.signature`,
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
        return encodeMessage(obj, Assign.codec());
    }
    Assign.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Assign.codec(), opts);
    }
    Assign.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Assign.codec(), opts);
    }
    Assign.stream = stream;
})(Assign || (Assign = {}));
export var Lease;
(function (Lease) {
    let _codec;
    Lease.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.epoch != null && obj.epoch !== 0)) {
                    w.uint32(16);
                    w.uint64Number(obj.epoch);
                }
                if ((obj.manifest != null && obj.manifest.byteLength > 0)) {
                    w.uint32(26);
                    w.bytes(obj.manifest);
                }
                if (obj.granted != null) {
                    w.uint32(32);
                    w.bool(obj.granted);
                }
                if (obj.gpus != null && obj.gpus.length > 0) {
                    for (const value of obj.gpus) {
                        w.uint32(42);
                        w.string(value);
                    }
                }
                if (obj.memoryBytes != null) {
                    w.uint32(56);
                    w.uint64Number(obj.memoryBytes);
                }
                if (obj.sealed != null) {
                    w.uint32(48);
                    w.bool(obj.sealed);
                }
                if (obj.checkpoint != null) {
                    w.uint32(66);
                    Checkpointing.codec().encode(obj.checkpoint, w);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    epoch: 0,
                    manifest: uint8ArrayAlloc(0),
                    gpus: []
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
                            obj.epoch = reader.uint64Number();
                            break;
                        }
                        case 3: {
                            obj.manifest = reader.bytes();
                            break;
                        }
                        case 4: {
                            obj.granted = reader.bool();
                            break;
                        }
                        case 5: {
                            if (opts.limits?.gpus != null && obj.gpus.length === opts.limits.gpus) {
                                throw new MaxLengthError('Decode error - repeated field "gpus" had too many elements');
                            }
                            obj.gpus.push(reader.string());
                            break;
                        }
                        case 7: {
                            obj.memoryBytes = reader.uint64Number();
                            break;
                        }
                        case 6: {
                            obj.sealed = reader.bool();
                            break;
                        }
                        case 8: {
                            obj.checkpoint = Checkpointing.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.checkpoint
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
                const obj = {
                    gpus: 0
                };
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
                                field: `${prefix}.epoch`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 3: {
                            yield {
                                field: `${prefix}.manifest`,
                                value: reader.bytes()
                            };
                            break;
                        }
                        case 4: {
                            yield {
                                field: `${prefix}.granted`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 5: {
                            if (opts.limits?.gpus != null && obj.gpus === opts.limits.gpus) {
                                throw new MaxLengthError('Streaming decode error - repeated field "gpus" had too many elements');
                            }
                            yield {
                                field: `${prefix}.gpus[]`,
                                index: obj.gpus,
                                value: reader.string()
                            };
                            obj.gpus++;
                            break;
                        }
                        case 7: {
                            yield {
                                field: `${prefix}.memoryBytes`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 6: {
                            yield {
                                field: `${prefix}.sealed`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 8: {
                            yield* Checkpointing.codec().stream(reader, reader.uint32(), `${prefix}.checkpoint`, {
                                limits: opts.limits?.checkpoint
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
        return encodeMessage(obj, Lease.codec());
    }
    Lease.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Lease.codec(), opts);
    }
    Lease.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Lease.codec(), opts);
    }
    Lease.stream = stream;
})(Lease || (Lease = {}));
export var Checkpointing;
(function (Checkpointing) {
    let _codec;
    Checkpointing.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.everyMs != null && obj.everyMs !== 0)) {
                    w.uint32(8);
                    w.uint64Number(obj.everyMs);
                }
                if (obj.root != null) {
                    w.uint32(18);
                    w.string(obj.root);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    everyMs: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            obj.everyMs = reader.uint64Number();
                            break;
                        }
                        case 2: {
                            obj.root = reader.string();
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
                                field: `${prefix}.everyMs`,
                                value: reader.uint64Number()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.root`,
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
        return encodeMessage(obj, Checkpointing.codec());
    }
    Checkpointing.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Checkpointing.codec(), opts);
    }
    Checkpointing.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Checkpointing.codec(), opts);
    }
    Checkpointing.stream = stream;
})(Checkpointing || (Checkpointing = {}));
export var Start;
(function (Start) {
    let _codec;
    Start.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        StartOne.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(StartOne.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of StartOne.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Start.codec());
    }
    Start.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Start.codec(), opts);
    }
    Start.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Start.codec(), opts);
    }
    Start.stream = stream;
})(Start || (Start = {}));
export var StartOne;
(function (StartOne) {
    let _codec;
    StartOne.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.epoch != null && obj.epoch !== 0)) {
                    w.uint32(16);
                    w.uint64Number(obj.epoch);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    epoch: 0
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
                            obj.epoch = reader.uint64Number();
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
                                field: `${prefix}.epoch`,
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
        return encodeMessage(obj, StartOne.codec());
    }
    StartOne.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, StartOne.codec(), opts);
    }
    StartOne.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, StartOne.codec(), opts);
    }
    StartOne.stream = stream;
})(StartOne || (StartOne = {}));
export var Grant;
(function (Grant) {
    let _codec;
    Grant.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.granted != null && obj.granted.length > 0) {
                    for (const value of obj.granted) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if (obj.refused != null && obj.refused.length > 0) {
                    for (const value of obj.refused) {
                        w.uint32(18);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    granted: [],
                    refused: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.granted != null && obj.granted.length === opts.limits.granted) {
                                throw new MaxLengthError('Decode error - repeated field "granted" had too many elements');
                            }
                            obj.granted.push(reader.string());
                            break;
                        }
                        case 2: {
                            if (opts.limits?.refused != null && obj.refused.length === opts.limits.refused) {
                                throw new MaxLengthError('Decode error - repeated field "refused" had too many elements');
                            }
                            obj.refused.push(reader.string());
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
                    granted: 0,
                    refused: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.granted != null && obj.granted === opts.limits.granted) {
                                throw new MaxLengthError('Streaming decode error - repeated field "granted" had too many elements');
                            }
                            yield {
                                field: `${prefix}.granted[]`,
                                index: obj.granted,
                                value: reader.string()
                            };
                            obj.granted++;
                            break;
                        }
                        case 2: {
                            if (opts.limits?.refused != null && obj.refused === opts.limits.refused) {
                                throw new MaxLengthError('Streaming decode error - repeated field "refused" had too many elements');
                            }
                            yield {
                                field: `${prefix}.refused[]`,
                                index: obj.refused,
                                value: reader.string()
                            };
                            obj.refused++;
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
export var Progress;
(function (Progress) {
    let _codec;
    Progress.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        ProgressOne.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(ProgressOne.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of ProgressOne.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Progress.codec());
    }
    Progress.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Progress.codec(), opts);
    }
    Progress.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Progress.codec(), opts);
    }
    Progress.stream = stream;
})(Progress || (Progress = {}));
export var ProgressOne;
(function (ProgressOne) {
    let _codec;
    ProgressOne.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.state != null && obj.state !== '')) {
                    w.uint32(18);
                    w.string(obj.state);
                }
                if (obj.again != null) {
                    w.uint32(64);
                    w.bool(obj.again);
                }
                if (obj.donePpm != null) {
                    w.uint32(72);
                    w.uint32(obj.donePpm);
                }
                if (obj.note != null) {
                    w.uint32(82);
                    w.string(obj.note);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    state: ''
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
                            obj.state = reader.string();
                            break;
                        }
                        case 8: {
                            obj.again = reader.bool();
                            break;
                        }
                        case 9: {
                            obj.donePpm = reader.uint32();
                            break;
                        }
                        case 10: {
                            obj.note = reader.string();
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
                                field: `${prefix}.state`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 8: {
                            yield {
                                field: `${prefix}.again`,
                                value: reader.bool()
                            };
                            break;
                        }
                        case 9: {
                            yield {
                                field: `${prefix}.donePpm`,
                                value: reader.uint32()
                            };
                            break;
                        }
                        case 10: {
                            yield {
                                field: `${prefix}.note`,
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
        return encodeMessage(obj, ProgressOne.codec());
    }
    ProgressOne.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, ProgressOne.codec(), opts);
    }
    ProgressOne.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, ProgressOne.codec(), opts);
    }
    ProgressOne.stream = stream;
})(ProgressOne || (ProgressOne = {}));
export var Reports;
(function (Reports) {
    let _codec;
    Reports.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.results != null && obj.results.length > 0) {
                    for (const value of obj.results) {
                        w.uint32(10);
                        w.bytes(value);
                    }
                }
                if ((obj.signature != null && obj.signature.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.signature);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    results: [],
                    signature: uint8ArrayAlloc(0)
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.results != null && obj.results.length === opts.limits.results) {
                                throw new MaxLengthError('Decode error - repeated field "results" had too many elements');
                            }
                            obj.results.push(reader.bytes());
                            break;
                        }
                        case 2: {
                            obj.signature = reader.bytes();
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
                    results: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.results != null && obj.results === opts.limits.results) {
                                throw new MaxLengthError('Streaming decode error - repeated field "results" had too many elements');
                            }
                            yield {
                                field: `${prefix}.results[]`,
                                index: obj.results,
                                value: reader.bytes()
                            };
                            obj.results++;
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.signature`,
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
        return encodeMessage(obj, Reports.codec());
    }
    Reports.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Reports.codec(), opts);
    }
    Reports.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Reports.codec(), opts);
    }
    Reports.stream = stream;
})(Reports || (Reports = {}));
export var Commits;
(function (Commits) {
    let _codec;
    Commits.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        Commit.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(Commit.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of Commit.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Commits.codec());
    }
    Commits.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Commits.codec(), opts);
    }
    Commits.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Commits.codec(), opts);
    }
    Commits.stream = stream;
})(Commits || (Commits = {}));
export var Commit;
(function (Commit) {
    let _codec;
    Commit.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.digest != null && obj.digest.byteLength > 0)) {
                    w.uint32(18);
                    w.bytes(obj.digest);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    digest: uint8ArrayAlloc(0)
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
                            obj.digest = reader.bytes();
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
                                field: `${prefix}.digest`,
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
        return encodeMessage(obj, Commit.codec());
    }
    Commit.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Commit.codec(), opts);
    }
    Commit.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Commit.codec(), opts);
    }
    Commit.stream = stream;
})(Commit || (Commit = {}));
export var Reveal;
(function (Reveal) {
    let _codec;
    Reveal.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(reader.string());
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            yield {
                                field: `${prefix}.replicas[]`,
                                index: obj.replicas,
                                value: reader.string()
                            };
                            obj.replicas++;
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
        return encodeMessage(obj, Reveal.codec());
    }
    Reveal.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Reveal.codec(), opts);
    }
    Reveal.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Reveal.codec(), opts);
    }
    Reveal.stream = stream;
})(Reveal || (Reveal = {}));
export var Returned;
(function (Returned) {
    let _codec;
    Returned.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        ReturnedOne.codec().encode(value, w);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(ReturnedOne.codec().decode(reader, reader.uint32(), {
                                limits: opts.limits?.replicas$
                            }));
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            for (const evt of ReturnedOne.codec().stream(reader, reader.uint32(), `${prefix}.replicas[]`, {
                                limits: opts.limits?.replicas$
                            })) {
                                yield {
                                    ...evt,
                                    index: obj.replicas
                                };
                            }
                            obj.replicas++;
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
        return encodeMessage(obj, Returned.codec());
    }
    Returned.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Returned.codec(), opts);
    }
    Returned.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Returned.codec(), opts);
    }
    Returned.stream = stream;
})(Returned || (Returned = {}));
export var ReturnedOne;
(function (ReturnedOne) {
    let _codec;
    ReturnedOne.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if ((obj.replica != null && obj.replica !== '')) {
                    w.uint32(10);
                    w.string(obj.replica);
                }
                if ((obj.class != null && obj.class !== '')) {
                    w.uint32(18);
                    w.string(obj.class);
                }
                if ((obj.code != null && obj.code !== '')) {
                    w.uint32(26);
                    w.string(obj.code);
                }
                if ((obj.message != null && obj.message !== '')) {
                    w.uint32(34);
                    w.string(obj.message);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replica: '',
                    class: '',
                    code: '',
                    message: ''
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
                            obj.class = reader.string();
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
                                field: `${prefix}.replica`,
                                value: reader.string()
                            };
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.class`,
                                value: reader.string()
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
        return encodeMessage(obj, ReturnedOne.codec());
    }
    ReturnedOne.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, ReturnedOne.codec(), opts);
    }
    ReturnedOne.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, ReturnedOne.codec(), opts);
    }
    ReturnedOne.stream = stream;
})(ReturnedOne || (ReturnedOne = {}));
export var Bye;
(function (Bye) {
    let _codec;
    Bye.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
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
        return encodeMessage(obj, Bye.codec());
    }
    Bye.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Bye.codec(), opts);
    }
    Bye.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Bye.codec(), opts);
    }
    Bye.stream = stream;
})(Bye || (Bye = {}));
export var Cancel;
(function (Cancel) {
    let _codec;
    Cancel.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if ((obj.reason != null && obj.reason !== '')) {
                    w.uint32(18);
                    w.string(obj.reason);
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: [],
                    reason: ''
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(reader.string());
                            break;
                        }
                        case 2: {
                            obj.reason = reader.string();
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            yield {
                                field: `${prefix}.replicas[]`,
                                index: obj.replicas,
                                value: reader.string()
                            };
                            obj.replicas++;
                            break;
                        }
                        case 2: {
                            yield {
                                field: `${prefix}.reason`,
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
        return encodeMessage(obj, Cancel.codec());
    }
    Cancel.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Cancel.codec(), opts);
    }
    Cancel.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Cancel.codec(), opts);
    }
    Cancel.stream = stream;
})(Cancel || (Cancel = {}));
export var Release;
(function (Release) {
    let _codec;
    Release.codec = () => {
        if (_codec == null) {
            _codec = message((obj, w, opts = {}) => {
                if (opts.lengthDelimited !== false) {
                    w.fork();
                }
                if (obj.replicas != null && obj.replicas.length > 0) {
                    for (const value of obj.replicas) {
                        w.uint32(10);
                        w.string(value);
                    }
                }
                if (opts.lengthDelimited !== false) {
                    w.ldelim();
                }
            }, (reader, length, opts = {}) => {
                const obj = {
                    replicas: []
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas.length === opts.limits.replicas) {
                                throw new MaxLengthError('Decode error - repeated field "replicas" had too many elements');
                            }
                            obj.replicas.push(reader.string());
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
                    replicas: 0
                };
                const end = length == null ? reader.len : reader.pos + length;
                while (reader.pos < end) {
                    const tag = reader.uint32();
                    switch (tag >>> 3) {
                        case 1: {
                            if (opts.limits?.replicas != null && obj.replicas === opts.limits.replicas) {
                                throw new MaxLengthError('Streaming decode error - repeated field "replicas" had too many elements');
                            }
                            yield {
                                field: `${prefix}.replicas[]`,
                                index: obj.replicas,
                                value: reader.string()
                            };
                            obj.replicas++;
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
        return encodeMessage(obj, Release.codec());
    }
    Release.encode = encode;
    function decode(buf, opts) {
        return decodeMessage(buf, Release.codec(), opts);
    }
    Release.decode = decode;
    function stream(buf, opts) {
        return streamMessage(buf, Release.codec(), opts);
    }
    Release.stream = stream;
})(Release || (Release = {}));
