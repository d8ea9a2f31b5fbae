export type ManifestErrorCode = 'manifest_malformed' | 'manifest_too_large' | 'manifest_signature'

/** A manifest that cannot be accepted. The message says what is wrong with it. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  readonly code: ManifestErrorCode
  constructor(code: ManifestErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
