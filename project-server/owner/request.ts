import type { PeerIdString } from '#protocol/ids'
import type { OwnerErrorCode } from '#protocol/owner/messages'
import type { FrameStream } from '#protocol/peer/host'

/** A request that is refused: the code crosses the wire, the message is for the person. */
export class OwnerError extends Error {
  override readonly name = 'OwnerError'
  readonly code: OwnerErrorCode
  constructor(code: OwnerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** One open request, as its handler sees it. */
export interface OpenRequest {
  readonly client: PeerIdString
  /** Opens a stream to the very program that asks: several may be connected under one key. */
  readonly beside?: NonNullable<FrameStream['beside']>
  /** Aborted when the client gives up or its stream ends. */
  readonly signal: AbortSignal
  /** Sends a part of the answer; resolves when the client has room for more. */
  part(part: { readonly body?: unknown; readonly data?: Uint8Array }): Promise<void>
}
