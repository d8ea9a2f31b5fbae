// Generated from control.proto by `npm run proto`.
import type { Codec, DecodeOptions } from 'protons-runtime';
import type { Uint8ArrayList } from 'uint8arraylist';
export interface Frame {
    seq: number;
    ack: number;
    before?: number;
    hello?: Hello;
    demand?: Demand;
    heartbeat?: Heartbeat;
    holdings?: Holdings;
    crashed?: Crashed;
    parked?: Parked;
    checkpoints?: Checkpoints;
    start?: Start;
    progress?: Progress;
    reports?: Reports;
    returned?: Returned;
    bye?: Bye;
    commits?: Commits;
    welcome?: Welcome;
    refused?: Refused;
    next?: Next;
    taken?: Taken;
    assign?: Assign;
    grant?: Grant;
    cancel?: Cancel;
    release?: Release;
    reveal?: Reveal;
}
export declare namespace Frame {
    const codec: () => Codec<Frame>;
    interface FrameSeqFieldEvent {
        field: '$.seq';
        value: number;
    }
    interface FrameAckFieldEvent {
        field: '$.ack';
        value: number;
    }
    interface FrameBeforeFieldEvent {
        field: '$.before';
        value: number;
    }
    interface FrameHelloVersionsFieldEvent {
        field: '$.hello.versions[]';
        index: number;
        value: number;
    }
    interface FrameHelloLinkFieldEvent {
        field: '$.hello.link';
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameHelloReceivedFieldEvent {
        field: '$.hello.received';
        value: number;
    }
    interface FrameHelloProjectFieldEvent {
        field: '$.hello.project';
        value: string;
    }
    interface FrameHelloCapabilitiesPlatformFieldEvent {
        field: '$.hello.capabilities.platform';
        value: string;
    }
    interface FrameHelloCapabilitiesEnginesFieldEvent {
        field: '$.hello.capabilities.engines[]';
        index: number;
        value: string;
    }
    interface FrameHelloCapabilitiesCpuMillisFieldEvent {
        field: '$.hello.capabilities.cpuMillis';
        value: number;
    }
    interface FrameHelloCapabilitiesMemoryBytesFieldEvent {
        field: '$.hello.capabilities.memoryBytes';
        value: number;
    }
    interface FrameHelloCapabilitiesDiskBytesFieldEvent {
        field: '$.hello.capabilities.diskBytes';
        value: number;
    }
    interface FrameHelloCapabilitiesSlotsFieldEvent {
        field: '$.hello.capabilities.slots';
        value: number;
    }
    interface FrameHelloCapabilitiesCoresFieldEvent {
        field: '$.hello.capabilities.cores';
        value: number;
    }
    interface FrameHelloCapabilitiesTagsFieldEvent {
        field: '$.hello.capabilities.tags[]';
        index: number;
        value: string;
    }
    interface FrameHelloCapabilitiesGpusUuidFieldEvent {
        field: '$.hello.capabilities.gpus[].uuid';
        value: string;
        index: number;
    }
    interface FrameHelloCapabilitiesGpusModelFieldEvent {
        field: '$.hello.capabilities.gpus[].model';
        value: string;
        index: number;
    }
    interface FrameHelloCapabilitiesGpusMemoryBytesFieldEvent {
        field: '$.hello.capabilities.gpus[].memoryBytes';
        value: number;
        index: number;
    }
    interface FrameHelloCapabilitiesGpusDriverFieldEvent {
        field: '$.hello.capabilities.gpus[].driver';
        value: string;
        index: number;
    }
    interface FrameHelloCapabilitiesExclusiveFieldEvent {
        field: '$.hello.capabilities.exclusive[]';
        index: number;
        value: string;
    }
    interface FrameHelloCapabilitiesOwnerOnlyFieldEvent {
        field: '$.hello.capabilities.ownerOnly';
        value: boolean;
    }
    interface FrameHelloCapabilitiesOwnerClientFieldEvent {
        field: '$.hello.capabilities.owner.client';
        value: string;
    }
    interface FrameHelloCapabilitiesOwnerSignatureFieldEvent {
        field: '$.hello.capabilities.owner.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameHelloCapabilitiesCpuFieldEvent {
        field: '$.hello.capabilities.cpu';
        value: string;
    }
    interface FrameHelloCapabilitiesGroupsFieldEvent {
        field: '$.hello.capabilities.groups[]';
        index: number;
        value: string;
    }
    interface FrameHelloReplicasFieldEvent {
        field: '$.hello.replicas[]';
        index: number;
        value: string;
    }
    interface FrameHelloAgentFieldEvent {
        field: '$.hello.agent';
        value: string;
    }
    interface FrameHelloNameFieldEvent {
        field: '$.hello.name';
        value: string;
    }
    interface FrameHelloDemandSlotsFieldEvent {
        field: '$.hello.demand.slots';
        value: number;
    }
    interface FrameHelloHoldingsRootFieldEvent {
        field: '$.hello.holdings[].root';
        value: string;
        index: number;
    }
    interface FrameHelloHoldingsBytesFieldEvent {
        field: '$.hello.holdings[].bytes';
        value: number;
        index: number;
    }
    interface FrameHelloSpareFieldEvent {
        field: '$.hello.spare';
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameHelloNextFieldEvent {
        field: '$.hello.next';
        value: number;
    }
    interface FrameDemandSlotsFieldEvent {
        field: '$.demand.slots';
        value: number;
    }
    interface FrameHoldingsGotRootFieldEvent {
        field: '$.holdings.got[].root';
        value: string;
        index: number;
    }
    interface FrameHoldingsGotBytesFieldEvent {
        field: '$.holdings.got[].bytes';
        value: number;
        index: number;
    }
    interface FrameHoldingsDroppedFieldEvent {
        field: '$.holdings.dropped[]';
        index: number;
        value: string;
    }
    interface FrameCrashedReplicasReplicaFieldEvent {
        field: '$.crashed.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameCrashedReplicasLogFieldEvent {
        field: '$.crashed.replicas[].log';
        value: string;
        index: number;
    }
    interface FrameParkedResultsResultFieldEvent {
        field: '$.parked.results[].result';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface FrameParkedResultsSignatureFieldEvent {
        field: '$.parked.results[].signature';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface FrameCheckpointsReplicasReplicaFieldEvent {
        field: '$.checkpoints.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameCheckpointsReplicasRootFieldEvent {
        field: '$.checkpoints.replicas[].root';
        value: string;
        index: number;
    }
    interface FrameCheckpointsReplicasBytesFieldEvent {
        field: '$.checkpoints.replicas[].bytes';
        value: number;
        index: number;
    }
    interface FrameCheckpointsReplicasLastFieldEvent {
        field: '$.checkpoints.replicas[].last';
        value: boolean;
        index: number;
    }
    interface FrameStartReplicasReplicaFieldEvent {
        field: '$.start.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameStartReplicasEpochFieldEvent {
        field: '$.start.replicas[].epoch';
        value: number;
        index: number;
    }
    interface FrameProgressReplicasReplicaFieldEvent {
        field: '$.progress.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameProgressReplicasStateFieldEvent {
        field: '$.progress.replicas[].state';
        value: string;
        index: number;
    }
    interface FrameProgressReplicasAgainFieldEvent {
        field: '$.progress.replicas[].again';
        value: boolean;
        index: number;
    }
    interface FrameProgressReplicasDonePpmFieldEvent {
        field: '$.progress.replicas[].donePpm';
        value: number;
        index: number;
    }
    interface FrameProgressReplicasNoteFieldEvent {
        field: '$.progress.replicas[].note';
        value: string;
        index: number;
    }
    interface FrameReportsResultsFieldEvent {
        field: '$.reports.results[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameReportsSignatureFieldEvent {
        field: '$.reports.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameReturnedReplicasReplicaFieldEvent {
        field: '$.returned.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameReturnedReplicasClassFieldEvent {
        field: '$.returned.replicas[].class';
        value: string;
        index: number;
    }
    interface FrameReturnedReplicasCodeFieldEvent {
        field: '$.returned.replicas[].code';
        value: string;
        index: number;
    }
    interface FrameReturnedReplicasMessageFieldEvent {
        field: '$.returned.replicas[].message';
        value: string;
        index: number;
    }
    interface FrameCommitsReplicasReplicaFieldEvent {
        field: '$.commits.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameCommitsReplicasDigestFieldEvent {
        field: '$.commits.replicas[].digest';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface FrameWelcomeVersionFieldEvent {
        field: '$.welcome.version';
        value: number;
    }
    interface FrameWelcomeEpochFieldEvent {
        field: '$.welcome.epoch';
        value: number;
    }
    interface FrameWelcomeResumedFieldEvent {
        field: '$.welcome.resumed';
        value: boolean;
    }
    interface FrameWelcomeReceivedFieldEvent {
        field: '$.welcome.received';
        value: number;
    }
    interface FrameWelcomeHeartbeatMsFieldEvent {
        field: '$.welcome.heartbeatMs';
        value: number;
    }
    interface FrameWelcomeUnknownFieldEvent {
        field: '$.welcome.unknown[]';
        index: number;
        value: string;
    }
    interface FrameRefusedCodeFieldEvent {
        field: '$.refused.code';
        value: string;
    }
    interface FrameRefusedMessageFieldEvent {
        field: '$.refused.message';
        value: string;
    }
    interface FrameRefusedRetryMsFieldEvent {
        field: '$.refused.retryMs';
        value: number;
    }
    interface FrameNextManifestsFieldEvent {
        field: '$.next.manifests[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameTakenReplicasReplicaFieldEvent {
        field: '$.taken.replicas[].replica';
        value: string;
        index: number;
    }
    interface FrameTakenReplicasRootFieldEvent {
        field: '$.taken.replicas[].root';
        value: string;
        index: number;
    }
    interface FrameAssignLeasesReplicaFieldEvent {
        field: '$.assign.leases[].replica';
        value: string;
        index: number;
    }
    interface FrameAssignLeasesEpochFieldEvent {
        field: '$.assign.leases[].epoch';
        value: number;
        index: number;
    }
    interface FrameAssignLeasesManifestFieldEvent {
        field: '$.assign.leases[].manifest';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface FrameAssignLeasesGrantedFieldEvent {
        field: '$.assign.leases[].granted';
        value: boolean;
        index: number;
    }
    interface FrameAssignLeasesGpusFieldEvent {
        field: '$.assign.leases[].gpus[]';
        index: number;
        value: string;
    }
    interface FrameAssignLeasesMemoryBytesFieldEvent {
        field: '$.assign.leases[].memoryBytes';
        value: number;
        index: number;
    }
    interface FrameAssignLeasesSealedFieldEvent {
        field: '$.assign.leases[].sealed';
        value: boolean;
        index: number;
    }
    interface FrameAssignLeasesCheckpointEveryMsFieldEvent {
        field: '$.assign.leases[].checkpoint.everyMs';
        value: number;
        index: number;
    }
    interface FrameAssignLeasesCheckpointRootFieldEvent {
        field: '$.assign.leases[].checkpoint.root';
        value: string;
        index: number;
    }
    interface FrameAssignSignatureFieldEvent {
        field: '$.assign.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface FrameGrantGrantedFieldEvent {
        field: '$.grant.granted[]';
        index: number;
        value: string;
    }
    interface FrameGrantRefusedFieldEvent {
        field: '$.grant.refused[]';
        index: number;
        value: string;
    }
    interface FrameCancelReplicasFieldEvent {
        field: '$.cancel.replicas[]';
        index: number;
        value: string;
    }
    interface FrameCancelReasonFieldEvent {
        field: '$.cancel.reason';
        value: string;
    }
    interface FrameReleaseReplicasFieldEvent {
        field: '$.release.replicas[]';
        index: number;
        value: string;
    }
    interface FrameRevealReplicasFieldEvent {
        field: '$.reveal.replicas[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Frame>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Frame>): Frame;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Frame>): Generator<FrameSeqFieldEvent | FrameAckFieldEvent | FrameBeforeFieldEvent | FrameHelloVersionsFieldEvent | FrameHelloLinkFieldEvent | FrameHelloReceivedFieldEvent | FrameHelloProjectFieldEvent | FrameHelloCapabilitiesPlatformFieldEvent | FrameHelloCapabilitiesEnginesFieldEvent | FrameHelloCapabilitiesCpuMillisFieldEvent | FrameHelloCapabilitiesMemoryBytesFieldEvent | FrameHelloCapabilitiesDiskBytesFieldEvent | FrameHelloCapabilitiesSlotsFieldEvent | FrameHelloCapabilitiesCoresFieldEvent | FrameHelloCapabilitiesTagsFieldEvent | FrameHelloCapabilitiesGpusUuidFieldEvent | FrameHelloCapabilitiesGpusModelFieldEvent | FrameHelloCapabilitiesGpusMemoryBytesFieldEvent | FrameHelloCapabilitiesGpusDriverFieldEvent | FrameHelloCapabilitiesExclusiveFieldEvent | FrameHelloCapabilitiesOwnerOnlyFieldEvent | FrameHelloCapabilitiesOwnerClientFieldEvent | FrameHelloCapabilitiesOwnerSignatureFieldEvent | FrameHelloCapabilitiesCpuFieldEvent | FrameHelloCapabilitiesGroupsFieldEvent | FrameHelloReplicasFieldEvent | FrameHelloAgentFieldEvent | FrameHelloNameFieldEvent | FrameHelloDemandSlotsFieldEvent | FrameHelloHoldingsRootFieldEvent | FrameHelloHoldingsBytesFieldEvent | FrameHelloSpareFieldEvent | FrameHelloNextFieldEvent | FrameDemandSlotsFieldEvent | FrameHoldingsGotRootFieldEvent | FrameHoldingsGotBytesFieldEvent | FrameHoldingsDroppedFieldEvent | FrameCrashedReplicasReplicaFieldEvent | FrameCrashedReplicasLogFieldEvent | FrameParkedResultsResultFieldEvent | FrameParkedResultsSignatureFieldEvent | FrameCheckpointsReplicasReplicaFieldEvent | FrameCheckpointsReplicasRootFieldEvent | FrameCheckpointsReplicasBytesFieldEvent | FrameCheckpointsReplicasLastFieldEvent | FrameStartReplicasReplicaFieldEvent | FrameStartReplicasEpochFieldEvent | FrameProgressReplicasReplicaFieldEvent | FrameProgressReplicasStateFieldEvent | FrameProgressReplicasAgainFieldEvent | FrameProgressReplicasDonePpmFieldEvent | FrameProgressReplicasNoteFieldEvent | FrameReportsResultsFieldEvent | FrameReportsSignatureFieldEvent | FrameReturnedReplicasReplicaFieldEvent | FrameReturnedReplicasClassFieldEvent | FrameReturnedReplicasCodeFieldEvent | FrameReturnedReplicasMessageFieldEvent | FrameCommitsReplicasReplicaFieldEvent | FrameCommitsReplicasDigestFieldEvent | FrameWelcomeVersionFieldEvent | FrameWelcomeEpochFieldEvent | FrameWelcomeResumedFieldEvent | FrameWelcomeReceivedFieldEvent | FrameWelcomeHeartbeatMsFieldEvent | FrameWelcomeUnknownFieldEvent | FrameRefusedCodeFieldEvent | FrameRefusedMessageFieldEvent | FrameRefusedRetryMsFieldEvent | FrameNextManifestsFieldEvent | FrameTakenReplicasReplicaFieldEvent | FrameTakenReplicasRootFieldEvent | FrameAssignLeasesReplicaFieldEvent | FrameAssignLeasesEpochFieldEvent | FrameAssignLeasesManifestFieldEvent | FrameAssignLeasesGrantedFieldEvent | FrameAssignLeasesGpusFieldEvent | FrameAssignLeasesMemoryBytesFieldEvent | FrameAssignLeasesSealedFieldEvent | FrameAssignLeasesCheckpointEveryMsFieldEvent | FrameAssignLeasesCheckpointRootFieldEvent | FrameAssignSignatureFieldEvent | FrameGrantGrantedFieldEvent | FrameGrantRefusedFieldEvent | FrameCancelReplicasFieldEvent | FrameCancelReasonFieldEvent | FrameReleaseReplicasFieldEvent | FrameRevealReplicasFieldEvent>;
}
export interface Hello {
    versions: number[];
    link: Uint8Array<ArrayBuffer>;
    received: number;
    project: string;
    capabilities?: Capabilities;
    replicas: string[];
    agent: string;
    name: string;
    demand?: Demand;
    holdings: Holding[];
    spare: Uint8Array<ArrayBuffer>;
    next?: number;
}
export declare namespace Hello {
    const codec: () => Codec<Hello>;
    interface HelloVersionsFieldEvent {
        field: '$.versions[]';
        index: number;
        value: number;
    }
    interface HelloLinkFieldEvent {
        field: '$.link';
        value: Uint8Array<ArrayBuffer>;
    }
    interface HelloReceivedFieldEvent {
        field: '$.received';
        value: number;
    }
    interface HelloProjectFieldEvent {
        field: '$.project';
        value: string;
    }
    interface HelloCapabilitiesPlatformFieldEvent {
        field: '$.capabilities.platform';
        value: string;
    }
    interface HelloCapabilitiesEnginesFieldEvent {
        field: '$.capabilities.engines[]';
        index: number;
        value: string;
    }
    interface HelloCapabilitiesCpuMillisFieldEvent {
        field: '$.capabilities.cpuMillis';
        value: number;
    }
    interface HelloCapabilitiesMemoryBytesFieldEvent {
        field: '$.capabilities.memoryBytes';
        value: number;
    }
    interface HelloCapabilitiesDiskBytesFieldEvent {
        field: '$.capabilities.diskBytes';
        value: number;
    }
    interface HelloCapabilitiesSlotsFieldEvent {
        field: '$.capabilities.slots';
        value: number;
    }
    interface HelloCapabilitiesCoresFieldEvent {
        field: '$.capabilities.cores';
        value: number;
    }
    interface HelloCapabilitiesTagsFieldEvent {
        field: '$.capabilities.tags[]';
        index: number;
        value: string;
    }
    interface HelloCapabilitiesGpusUuidFieldEvent {
        field: '$.capabilities.gpus[].uuid';
        value: string;
        index: number;
    }
    interface HelloCapabilitiesGpusModelFieldEvent {
        field: '$.capabilities.gpus[].model';
        value: string;
        index: number;
    }
    interface HelloCapabilitiesGpusMemoryBytesFieldEvent {
        field: '$.capabilities.gpus[].memoryBytes';
        value: number;
        index: number;
    }
    interface HelloCapabilitiesGpusDriverFieldEvent {
        field: '$.capabilities.gpus[].driver';
        value: string;
        index: number;
    }
    interface HelloCapabilitiesExclusiveFieldEvent {
        field: '$.capabilities.exclusive[]';
        index: number;
        value: string;
    }
    interface HelloCapabilitiesOwnerOnlyFieldEvent {
        field: '$.capabilities.ownerOnly';
        value: boolean;
    }
    interface HelloCapabilitiesOwnerClientFieldEvent {
        field: '$.capabilities.owner.client';
        value: string;
    }
    interface HelloCapabilitiesOwnerSignatureFieldEvent {
        field: '$.capabilities.owner.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface HelloCapabilitiesCpuFieldEvent {
        field: '$.capabilities.cpu';
        value: string;
    }
    interface HelloCapabilitiesGroupsFieldEvent {
        field: '$.capabilities.groups[]';
        index: number;
        value: string;
    }
    interface HelloReplicasFieldEvent {
        field: '$.replicas[]';
        index: number;
        value: string;
    }
    interface HelloAgentFieldEvent {
        field: '$.agent';
        value: string;
    }
    interface HelloNameFieldEvent {
        field: '$.name';
        value: string;
    }
    interface HelloDemandSlotsFieldEvent {
        field: '$.demand.slots';
        value: number;
    }
    interface HelloHoldingsRootFieldEvent {
        field: '$.holdings[].root';
        value: string;
        index: number;
    }
    interface HelloHoldingsBytesFieldEvent {
        field: '$.holdings[].bytes';
        value: number;
        index: number;
    }
    interface HelloSpareFieldEvent {
        field: '$.spare';
        value: Uint8Array<ArrayBuffer>;
    }
    interface HelloNextFieldEvent {
        field: '$.next';
        value: number;
    }
    function encode(obj: Partial<Hello>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Hello>): Hello;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Hello>): Generator<HelloVersionsFieldEvent | HelloLinkFieldEvent | HelloReceivedFieldEvent | HelloProjectFieldEvent | HelloCapabilitiesPlatformFieldEvent | HelloCapabilitiesEnginesFieldEvent | HelloCapabilitiesCpuMillisFieldEvent | HelloCapabilitiesMemoryBytesFieldEvent | HelloCapabilitiesDiskBytesFieldEvent | HelloCapabilitiesSlotsFieldEvent | HelloCapabilitiesCoresFieldEvent | HelloCapabilitiesTagsFieldEvent | HelloCapabilitiesGpusUuidFieldEvent | HelloCapabilitiesGpusModelFieldEvent | HelloCapabilitiesGpusMemoryBytesFieldEvent | HelloCapabilitiesGpusDriverFieldEvent | HelloCapabilitiesExclusiveFieldEvent | HelloCapabilitiesOwnerOnlyFieldEvent | HelloCapabilitiesOwnerClientFieldEvent | HelloCapabilitiesOwnerSignatureFieldEvent | HelloCapabilitiesCpuFieldEvent | HelloCapabilitiesGroupsFieldEvent | HelloReplicasFieldEvent | HelloAgentFieldEvent | HelloNameFieldEvent | HelloDemandSlotsFieldEvent | HelloHoldingsRootFieldEvent | HelloHoldingsBytesFieldEvent | HelloSpareFieldEvent | HelloNextFieldEvent>;
}
export interface Capabilities {
    platform: string;
    engines: string[];
    cpuMillis: number;
    memoryBytes: number;
    diskBytes: number;
    slots: number;
    cores?: number;
    tags: string[];
    gpus: Gpu[];
    exclusive: string[];
    ownerOnly: boolean;
    owner?: Owner;
    cpu?: string;
    groups: string[];
}
export declare namespace Capabilities {
    const codec: () => Codec<Capabilities>;
    interface CapabilitiesPlatformFieldEvent {
        field: '$.platform';
        value: string;
    }
    interface CapabilitiesEnginesFieldEvent {
        field: '$.engines[]';
        index: number;
        value: string;
    }
    interface CapabilitiesCpuMillisFieldEvent {
        field: '$.cpuMillis';
        value: number;
    }
    interface CapabilitiesMemoryBytesFieldEvent {
        field: '$.memoryBytes';
        value: number;
    }
    interface CapabilitiesDiskBytesFieldEvent {
        field: '$.diskBytes';
        value: number;
    }
    interface CapabilitiesSlotsFieldEvent {
        field: '$.slots';
        value: number;
    }
    interface CapabilitiesCoresFieldEvent {
        field: '$.cores';
        value: number;
    }
    interface CapabilitiesTagsFieldEvent {
        field: '$.tags[]';
        index: number;
        value: string;
    }
    interface CapabilitiesGpusUuidFieldEvent {
        field: '$.gpus[].uuid';
        value: string;
        index: number;
    }
    interface CapabilitiesGpusModelFieldEvent {
        field: '$.gpus[].model';
        value: string;
        index: number;
    }
    interface CapabilitiesGpusMemoryBytesFieldEvent {
        field: '$.gpus[].memoryBytes';
        value: number;
        index: number;
    }
    interface CapabilitiesGpusDriverFieldEvent {
        field: '$.gpus[].driver';
        value: string;
        index: number;
    }
    interface CapabilitiesExclusiveFieldEvent {
        field: '$.exclusive[]';
        index: number;
        value: string;
    }
    interface CapabilitiesOwnerOnlyFieldEvent {
        field: '$.ownerOnly';
        value: boolean;
    }
    interface CapabilitiesOwnerClientFieldEvent {
        field: '$.owner.client';
        value: string;
    }
    interface CapabilitiesOwnerSignatureFieldEvent {
        field: '$.owner.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    interface CapabilitiesCpuFieldEvent {
        field: '$.cpu';
        value: string;
    }
    interface CapabilitiesGroupsFieldEvent {
        field: '$.groups[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Capabilities>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Capabilities>): Capabilities;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Capabilities>): Generator<CapabilitiesPlatformFieldEvent | CapabilitiesEnginesFieldEvent | CapabilitiesCpuMillisFieldEvent | CapabilitiesMemoryBytesFieldEvent | CapabilitiesDiskBytesFieldEvent | CapabilitiesSlotsFieldEvent | CapabilitiesCoresFieldEvent | CapabilitiesTagsFieldEvent | CapabilitiesGpusUuidFieldEvent | CapabilitiesGpusModelFieldEvent | CapabilitiesGpusMemoryBytesFieldEvent | CapabilitiesGpusDriverFieldEvent | CapabilitiesExclusiveFieldEvent | CapabilitiesOwnerOnlyFieldEvent | CapabilitiesOwnerClientFieldEvent | CapabilitiesOwnerSignatureFieldEvent | CapabilitiesCpuFieldEvent | CapabilitiesGroupsFieldEvent>;
}
export interface Gpu {
    uuid: string;
    model: string;
    memoryBytes: number;
    driver: string;
}
export declare namespace Gpu {
    const codec: () => Codec<Gpu>;
    interface GpuUuidFieldEvent {
        field: '$.uuid';
        value: string;
    }
    interface GpuModelFieldEvent {
        field: '$.model';
        value: string;
    }
    interface GpuMemoryBytesFieldEvent {
        field: '$.memoryBytes';
        value: number;
    }
    interface GpuDriverFieldEvent {
        field: '$.driver';
        value: string;
    }
    function encode(obj: Partial<Gpu>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Gpu>): Gpu;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Gpu>): Generator<GpuUuidFieldEvent | GpuModelFieldEvent | GpuMemoryBytesFieldEvent | GpuDriverFieldEvent>;
}
export interface Owner {
    client: string;
    signature: Uint8Array<ArrayBuffer>;
}
export declare namespace Owner {
    const codec: () => Codec<Owner>;
    interface OwnerClientFieldEvent {
        field: '$.client';
        value: string;
    }
    interface OwnerSignatureFieldEvent {
        field: '$.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Owner>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Owner>): Owner;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Owner>): Generator<OwnerClientFieldEvent | OwnerSignatureFieldEvent>;
}
export interface Demand {
    slots: number;
}
export declare namespace Demand {
    const codec: () => Codec<Demand>;
    interface DemandSlotsFieldEvent {
        field: '$.slots';
        value: number;
    }
    function encode(obj: Partial<Demand>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Demand>): Demand;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Demand>): Generator<DemandSlotsFieldEvent>;
}
export interface Heartbeat {
}
export declare namespace Heartbeat {
    const codec: () => Codec<Heartbeat>;
    function encode(obj: Partial<Heartbeat>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Heartbeat>): Heartbeat;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Heartbeat>): Generator<{}>;
}
export interface Holdings {
    got: Holding[];
    dropped: string[];
}
export declare namespace Holdings {
    const codec: () => Codec<Holdings>;
    interface HoldingsGotRootFieldEvent {
        field: '$.got[].root';
        value: string;
        index: number;
    }
    interface HoldingsGotBytesFieldEvent {
        field: '$.got[].bytes';
        value: number;
        index: number;
    }
    interface HoldingsDroppedFieldEvent {
        field: '$.dropped[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Holdings>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Holdings>): Holdings;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Holdings>): Generator<HoldingsGotRootFieldEvent | HoldingsGotBytesFieldEvent | HoldingsDroppedFieldEvent>;
}
export interface Crashed {
    replicas: LastWords[];
}
export declare namespace Crashed {
    const codec: () => Codec<Crashed>;
    interface CrashedReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface CrashedReplicasLogFieldEvent {
        field: '$.replicas[].log';
        value: string;
        index: number;
    }
    function encode(obj: Partial<Crashed>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Crashed>): Crashed;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Crashed>): Generator<CrashedReplicasReplicaFieldEvent | CrashedReplicasLogFieldEvent>;
}
export interface LastWords {
    replica: string;
    log: string;
}
export declare namespace LastWords {
    const codec: () => Codec<LastWords>;
    interface LastWordsReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface LastWordsLogFieldEvent {
        field: '$.log';
        value: string;
    }
    function encode(obj: Partial<LastWords>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LastWords>): LastWords;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LastWords>): Generator<LastWordsReplicaFieldEvent | LastWordsLogFieldEvent>;
}
export interface Parked {
    results: ParkedOne[];
}
export declare namespace Parked {
    const codec: () => Codec<Parked>;
    interface ParkedResultsResultFieldEvent {
        field: '$.results[].result';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface ParkedResultsSignatureFieldEvent {
        field: '$.results[].signature';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    function encode(obj: Partial<Parked>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Parked>): Parked;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Parked>): Generator<ParkedResultsResultFieldEvent | ParkedResultsSignatureFieldEvent>;
}
export interface ParkedOne {
    result: Uint8Array<ArrayBuffer>;
    signature: Uint8Array<ArrayBuffer>;
}
export declare namespace ParkedOne {
    const codec: () => Codec<ParkedOne>;
    interface ParkedOneResultFieldEvent {
        field: '$.result';
        value: Uint8Array<ArrayBuffer>;
    }
    interface ParkedOneSignatureFieldEvent {
        field: '$.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<ParkedOne>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ParkedOne>): ParkedOne;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ParkedOne>): Generator<ParkedOneResultFieldEvent | ParkedOneSignatureFieldEvent>;
}
export interface Holding {
    root: string;
    bytes: number;
}
export declare namespace Holding {
    const codec: () => Codec<Holding>;
    interface HoldingRootFieldEvent {
        field: '$.root';
        value: string;
    }
    interface HoldingBytesFieldEvent {
        field: '$.bytes';
        value: number;
    }
    function encode(obj: Partial<Holding>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Holding>): Holding;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Holding>): Generator<HoldingRootFieldEvent | HoldingBytesFieldEvent>;
}
export interface Checkpoints {
    replicas: CheckpointOne[];
}
export declare namespace Checkpoints {
    const codec: () => Codec<Checkpoints>;
    interface CheckpointsReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface CheckpointsReplicasRootFieldEvent {
        field: '$.replicas[].root';
        value: string;
        index: number;
    }
    interface CheckpointsReplicasBytesFieldEvent {
        field: '$.replicas[].bytes';
        value: number;
        index: number;
    }
    interface CheckpointsReplicasLastFieldEvent {
        field: '$.replicas[].last';
        value: boolean;
        index: number;
    }
    function encode(obj: Partial<Checkpoints>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Checkpoints>): Checkpoints;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Checkpoints>): Generator<CheckpointsReplicasReplicaFieldEvent | CheckpointsReplicasRootFieldEvent | CheckpointsReplicasBytesFieldEvent | CheckpointsReplicasLastFieldEvent>;
}
export interface CheckpointOne {
    replica: string;
    root: string;
    bytes: number;
    last?: boolean;
}
export declare namespace CheckpointOne {
    const codec: () => Codec<CheckpointOne>;
    interface CheckpointOneReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface CheckpointOneRootFieldEvent {
        field: '$.root';
        value: string;
    }
    interface CheckpointOneBytesFieldEvent {
        field: '$.bytes';
        value: number;
    }
    interface CheckpointOneLastFieldEvent {
        field: '$.last';
        value: boolean;
    }
    function encode(obj: Partial<CheckpointOne>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<CheckpointOne>): CheckpointOne;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<CheckpointOne>): Generator<CheckpointOneReplicaFieldEvent | CheckpointOneRootFieldEvent | CheckpointOneBytesFieldEvent | CheckpointOneLastFieldEvent>;
}
export interface Welcome {
    version: number;
    epoch: number;
    resumed: boolean;
    received: number;
    heartbeatMs: number;
    unknown: string[];
}
export declare namespace Welcome {
    const codec: () => Codec<Welcome>;
    interface WelcomeVersionFieldEvent {
        field: '$.version';
        value: number;
    }
    interface WelcomeEpochFieldEvent {
        field: '$.epoch';
        value: number;
    }
    interface WelcomeResumedFieldEvent {
        field: '$.resumed';
        value: boolean;
    }
    interface WelcomeReceivedFieldEvent {
        field: '$.received';
        value: number;
    }
    interface WelcomeHeartbeatMsFieldEvent {
        field: '$.heartbeatMs';
        value: number;
    }
    interface WelcomeUnknownFieldEvent {
        field: '$.unknown[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Welcome>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Welcome>): Welcome;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Welcome>): Generator<WelcomeVersionFieldEvent | WelcomeEpochFieldEvent | WelcomeResumedFieldEvent | WelcomeReceivedFieldEvent | WelcomeHeartbeatMsFieldEvent | WelcomeUnknownFieldEvent>;
}
export interface Refused {
    code: string;
    message: string;
    retryMs: number;
}
export declare namespace Refused {
    const codec: () => Codec<Refused>;
    interface RefusedCodeFieldEvent {
        field: '$.code';
        value: string;
    }
    interface RefusedMessageFieldEvent {
        field: '$.message';
        value: string;
    }
    interface RefusedRetryMsFieldEvent {
        field: '$.retryMs';
        value: number;
    }
    function encode(obj: Partial<Refused>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Refused>): Refused;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Refused>): Generator<RefusedCodeFieldEvent | RefusedMessageFieldEvent | RefusedRetryMsFieldEvent>;
}
export interface Next {
    manifests: Uint8Array<ArrayBuffer>[];
}
export declare namespace Next {
    const codec: () => Codec<Next>;
    interface NextManifestsFieldEvent {
        field: '$.manifests[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Next>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Next>): Next;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Next>): Generator<NextManifestsFieldEvent>;
}
export interface Taken {
    replicas: TakenOne[];
}
export declare namespace Taken {
    const codec: () => Codec<Taken>;
    interface TakenReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface TakenReplicasRootFieldEvent {
        field: '$.replicas[].root';
        value: string;
        index: number;
    }
    function encode(obj: Partial<Taken>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Taken>): Taken;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Taken>): Generator<TakenReplicasReplicaFieldEvent | TakenReplicasRootFieldEvent>;
}
export interface TakenOne {
    replica: string;
    root: string;
}
export declare namespace TakenOne {
    const codec: () => Codec<TakenOne>;
    interface TakenOneReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface TakenOneRootFieldEvent {
        field: '$.root';
        value: string;
    }
    function encode(obj: Partial<TakenOne>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<TakenOne>): TakenOne;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<TakenOne>): Generator<TakenOneReplicaFieldEvent | TakenOneRootFieldEvent>;
}
export interface Assign {
    leases: Lease[];
    signature: Uint8Array<ArrayBuffer>;
}
export declare namespace Assign {
    const codec: () => Codec<Assign>;
    interface AssignLeasesReplicaFieldEvent {
        field: '$.leases[].replica';
        value: string;
        index: number;
    }
    interface AssignLeasesEpochFieldEvent {
        field: '$.leases[].epoch';
        value: number;
        index: number;
    }
    interface AssignLeasesManifestFieldEvent {
        field: '$.leases[].manifest';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    interface AssignLeasesGrantedFieldEvent {
        field: '$.leases[].granted';
        value: boolean;
        index: number;
    }
    interface AssignLeasesGpusFieldEvent {
        field: '$.leases[].gpus[]';
        index: number;
        value: string;
    }
    interface AssignLeasesMemoryBytesFieldEvent {
        field: '$.leases[].memoryBytes';
        value: number;
        index: number;
    }
    interface AssignLeasesSealedFieldEvent {
        field: '$.leases[].sealed';
        value: boolean;
        index: number;
    }
    interface AssignLeasesCheckpointEveryMsFieldEvent {
        field: '$.leases[].checkpoint.everyMs';
        value: number;
        index: number;
    }
    interface AssignLeasesCheckpointRootFieldEvent {
        field: '$.leases[].checkpoint.root';
        value: string;
        index: number;
    }
    interface AssignSignatureFieldEvent {
        field: '$.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Assign>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Assign>): Assign;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Assign>): Generator<AssignLeasesReplicaFieldEvent | AssignLeasesEpochFieldEvent | AssignLeasesManifestFieldEvent | AssignLeasesGrantedFieldEvent | AssignLeasesGpusFieldEvent | AssignLeasesMemoryBytesFieldEvent | AssignLeasesSealedFieldEvent | AssignLeasesCheckpointEveryMsFieldEvent | AssignLeasesCheckpointRootFieldEvent | AssignSignatureFieldEvent>;
}
export interface Lease {
    replica: string;
    epoch: number;
    manifest: Uint8Array<ArrayBuffer>;
    granted?: boolean;
    gpus: string[];
    memoryBytes?: number;
    sealed?: boolean;
    checkpoint?: Checkpointing;
}
export declare namespace Lease {
    const codec: () => Codec<Lease>;
    interface LeaseReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface LeaseEpochFieldEvent {
        field: '$.epoch';
        value: number;
    }
    interface LeaseManifestFieldEvent {
        field: '$.manifest';
        value: Uint8Array<ArrayBuffer>;
    }
    interface LeaseGrantedFieldEvent {
        field: '$.granted';
        value: boolean;
    }
    interface LeaseGpusFieldEvent {
        field: '$.gpus[]';
        index: number;
        value: string;
    }
    interface LeaseMemoryBytesFieldEvent {
        field: '$.memoryBytes';
        value: number;
    }
    interface LeaseSealedFieldEvent {
        field: '$.sealed';
        value: boolean;
    }
    interface LeaseCheckpointEveryMsFieldEvent {
        field: '$.checkpoint.everyMs';
        value: number;
    }
    interface LeaseCheckpointRootFieldEvent {
        field: '$.checkpoint.root';
        value: string;
    }
    function encode(obj: Partial<Lease>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Lease>): Lease;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Lease>): Generator<LeaseReplicaFieldEvent | LeaseEpochFieldEvent | LeaseManifestFieldEvent | LeaseGrantedFieldEvent | LeaseGpusFieldEvent | LeaseMemoryBytesFieldEvent | LeaseSealedFieldEvent | LeaseCheckpointEveryMsFieldEvent | LeaseCheckpointRootFieldEvent>;
}
export interface Checkpointing {
    everyMs: number;
    root?: string;
}
export declare namespace Checkpointing {
    const codec: () => Codec<Checkpointing>;
    interface CheckpointingEveryMsFieldEvent {
        field: '$.everyMs';
        value: number;
    }
    interface CheckpointingRootFieldEvent {
        field: '$.root';
        value: string;
    }
    function encode(obj: Partial<Checkpointing>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Checkpointing>): Checkpointing;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Checkpointing>): Generator<CheckpointingEveryMsFieldEvent | CheckpointingRootFieldEvent>;
}
export interface Start {
    replicas: StartOne[];
}
export declare namespace Start {
    const codec: () => Codec<Start>;
    interface StartReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface StartReplicasEpochFieldEvent {
        field: '$.replicas[].epoch';
        value: number;
        index: number;
    }
    function encode(obj: Partial<Start>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Start>): Start;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Start>): Generator<StartReplicasReplicaFieldEvent | StartReplicasEpochFieldEvent>;
}
export interface StartOne {
    replica: string;
    epoch: number;
}
export declare namespace StartOne {
    const codec: () => Codec<StartOne>;
    interface StartOneReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface StartOneEpochFieldEvent {
        field: '$.epoch';
        value: number;
    }
    function encode(obj: Partial<StartOne>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<StartOne>): StartOne;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<StartOne>): Generator<StartOneReplicaFieldEvent | StartOneEpochFieldEvent>;
}
export interface Grant {
    granted: string[];
    refused: string[];
}
export declare namespace Grant {
    const codec: () => Codec<Grant>;
    interface GrantGrantedFieldEvent {
        field: '$.granted[]';
        index: number;
        value: string;
    }
    interface GrantRefusedFieldEvent {
        field: '$.refused[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Grant>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Grant>): Grant;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Grant>): Generator<GrantGrantedFieldEvent | GrantRefusedFieldEvent>;
}
export interface Progress {
    replicas: ProgressOne[];
}
export declare namespace Progress {
    const codec: () => Codec<Progress>;
    interface ProgressReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface ProgressReplicasStateFieldEvent {
        field: '$.replicas[].state';
        value: string;
        index: number;
    }
    interface ProgressReplicasAgainFieldEvent {
        field: '$.replicas[].again';
        value: boolean;
        index: number;
    }
    interface ProgressReplicasDonePpmFieldEvent {
        field: '$.replicas[].donePpm';
        value: number;
        index: number;
    }
    interface ProgressReplicasNoteFieldEvent {
        field: '$.replicas[].note';
        value: string;
        index: number;
    }
    function encode(obj: Partial<Progress>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Progress>): Progress;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Progress>): Generator<ProgressReplicasReplicaFieldEvent | ProgressReplicasStateFieldEvent | ProgressReplicasAgainFieldEvent | ProgressReplicasDonePpmFieldEvent | ProgressReplicasNoteFieldEvent>;
}
export interface ProgressOne {
    replica: string;
    state: string;
    again?: boolean;
    donePpm?: number;
    note?: string;
}
export declare namespace ProgressOne {
    const codec: () => Codec<ProgressOne>;
    interface ProgressOneReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface ProgressOneStateFieldEvent {
        field: '$.state';
        value: string;
    }
    interface ProgressOneAgainFieldEvent {
        field: '$.again';
        value: boolean;
    }
    interface ProgressOneDonePpmFieldEvent {
        field: '$.donePpm';
        value: number;
    }
    interface ProgressOneNoteFieldEvent {
        field: '$.note';
        value: string;
    }
    function encode(obj: Partial<ProgressOne>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ProgressOne>): ProgressOne;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ProgressOne>): Generator<ProgressOneReplicaFieldEvent | ProgressOneStateFieldEvent | ProgressOneAgainFieldEvent | ProgressOneDonePpmFieldEvent | ProgressOneNoteFieldEvent>;
}
export interface Reports {
    results: Uint8Array<ArrayBuffer>[];
    signature: Uint8Array<ArrayBuffer>;
}
export declare namespace Reports {
    const codec: () => Codec<Reports>;
    interface ReportsResultsFieldEvent {
        field: '$.results[]';
        index: number;
        value: Uint8Array<ArrayBuffer>;
    }
    interface ReportsSignatureFieldEvent {
        field: '$.signature';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Reports>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Reports>): Reports;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Reports>): Generator<ReportsResultsFieldEvent | ReportsSignatureFieldEvent>;
}
export interface Commits {
    replicas: Commit[];
}
export declare namespace Commits {
    const codec: () => Codec<Commits>;
    interface CommitsReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface CommitsReplicasDigestFieldEvent {
        field: '$.replicas[].digest';
        value: Uint8Array<ArrayBuffer>;
        index: number;
    }
    function encode(obj: Partial<Commits>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Commits>): Commits;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Commits>): Generator<CommitsReplicasReplicaFieldEvent | CommitsReplicasDigestFieldEvent>;
}
export interface Commit {
    replica: string;
    digest: Uint8Array<ArrayBuffer>;
}
export declare namespace Commit {
    const codec: () => Codec<Commit>;
    interface CommitReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface CommitDigestFieldEvent {
        field: '$.digest';
        value: Uint8Array<ArrayBuffer>;
    }
    function encode(obj: Partial<Commit>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Commit>): Commit;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Commit>): Generator<CommitReplicaFieldEvent | CommitDigestFieldEvent>;
}
export interface Reveal {
    replicas: string[];
}
export declare namespace Reveal {
    const codec: () => Codec<Reveal>;
    interface RevealReplicasFieldEvent {
        field: '$.replicas[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Reveal>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Reveal>): Reveal;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Reveal>): Generator<RevealReplicasFieldEvent>;
}
export interface Returned {
    replicas: ReturnedOne[];
}
export declare namespace Returned {
    const codec: () => Codec<Returned>;
    interface ReturnedReplicasReplicaFieldEvent {
        field: '$.replicas[].replica';
        value: string;
        index: number;
    }
    interface ReturnedReplicasClassFieldEvent {
        field: '$.replicas[].class';
        value: string;
        index: number;
    }
    interface ReturnedReplicasCodeFieldEvent {
        field: '$.replicas[].code';
        value: string;
        index: number;
    }
    interface ReturnedReplicasMessageFieldEvent {
        field: '$.replicas[].message';
        value: string;
        index: number;
    }
    function encode(obj: Partial<Returned>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Returned>): Returned;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Returned>): Generator<ReturnedReplicasReplicaFieldEvent | ReturnedReplicasClassFieldEvent | ReturnedReplicasCodeFieldEvent | ReturnedReplicasMessageFieldEvent>;
}
export interface ReturnedOne {
    replica: string;
    class: string;
    code: string;
    message: string;
}
export declare namespace ReturnedOne {
    const codec: () => Codec<ReturnedOne>;
    interface ReturnedOneReplicaFieldEvent {
        field: '$.replica';
        value: string;
    }
    interface ReturnedOneClassFieldEvent {
        field: '$.class';
        value: string;
    }
    interface ReturnedOneCodeFieldEvent {
        field: '$.code';
        value: string;
    }
    interface ReturnedOneMessageFieldEvent {
        field: '$.message';
        value: string;
    }
    function encode(obj: Partial<ReturnedOne>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ReturnedOne>): ReturnedOne;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ReturnedOne>): Generator<ReturnedOneReplicaFieldEvent | ReturnedOneClassFieldEvent | ReturnedOneCodeFieldEvent | ReturnedOneMessageFieldEvent>;
}
export interface Bye {
}
export declare namespace Bye {
    const codec: () => Codec<Bye>;
    function encode(obj: Partial<Bye>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Bye>): Bye;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Bye>): Generator<{}>;
}
export interface Cancel {
    replicas: string[];
    reason: string;
}
export declare namespace Cancel {
    const codec: () => Codec<Cancel>;
    interface CancelReplicasFieldEvent {
        field: '$.replicas[]';
        index: number;
        value: string;
    }
    interface CancelReasonFieldEvent {
        field: '$.reason';
        value: string;
    }
    function encode(obj: Partial<Cancel>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Cancel>): Cancel;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Cancel>): Generator<CancelReplicasFieldEvent | CancelReasonFieldEvent>;
}
export interface Release {
    replicas: string[];
}
export declare namespace Release {
    const codec: () => Codec<Release>;
    interface ReleaseReplicasFieldEvent {
        field: '$.replicas[]';
        index: number;
        value: string;
    }
    function encode(obj: Partial<Release>): Uint8Array<ArrayBuffer>;
    function decode(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Release>): Release;
    function stream(buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Release>): Generator<ReleaseReplicasFieldEvent>;
}
