export type RelayErrorCode = 'not_a_relay_folder' | 'exists' | 'in_use' | 'bad_settings' | 'bad_key' | 'storage'

/** Why the relay cannot start or go on; the message says what to do next. */
export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly code: RelayErrorCode
  constructor(code: RelayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
