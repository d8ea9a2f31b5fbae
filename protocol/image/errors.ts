/**
 * - `unknown_image`: Docker has no image of that name. `unavailable`: Docker does not answer.
 * - `not_an_archive`: the file is neither a `docker save` archive nor an OCI archive, or it is cut short.
 * - `unsupported`: an image talko cannot carry; the message says what about it.
 * - `layer_mismatch`: a layer's bytes are not what the image's config says they are.
 * - `malformed`: the image node of a peer breaks its schema.
 */
export type ImageErrorCode = 'unknown_image' | 'unavailable' | 'not_an_archive' | 'unsupported' | 'layer_mismatch' | 'malformed'

/** An image that cannot be read, carried or loaded. The message says what is wrong and what to do. */
export class ImageError extends Error {
  override readonly name = 'ImageError'
  readonly code: ImageErrorCode
  constructor(code: ImageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
