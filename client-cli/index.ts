/** The client library: what `import … from 'talko'` gives. */

export { commandOfSteps, type Step } from '#protocol/bundle/steps'
export type {
  Batch,
  CallOptions,
  Client,
  Found,
  LogOptions,
  Progress,
  Task,
  TaskResult,
  TransferOptions,
  Uploaded
} from './client/client.ts'
export type { EventsOptions } from './client/events.ts'
export type { ManageOptions, Selection } from './client/manage.ts'
export type { BatchOptions, Input, TaskSpec } from './client/spec.ts'
export { ClientError, type ClientErrorCode } from './errors.ts'
export { type ConnectOptions, connect } from './live/connect.ts'
