/**
 * - `not_a_project`: the folder has no project.json. `exists`: it has one already.
 * - `bad_project_file`, `bad_key`: a file of the project cannot be read as what it should be.
 * - `locked`: another server runs on this folder.
 * - `port_in_use`: another program listens on the address.
 * - `stale_epoch`: another server has begun a newer epoch on the same state. `corrupt`: the state cannot be read.
 * - `disk_full`: nothing can be written. `unavailable`: the server is stopping. `failed`: anything else.
 */
export type ServerErrorCode =
  | 'not_a_project'
  | 'exists'
  | 'bad_project_file'
  | 'bad_key'
  | 'locked'
  | 'port_in_use'
  | 'stale_epoch'
  | 'corrupt'
  | 'disk_full'
  | 'unavailable'
  | 'failed'

export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly code: ServerErrorCode
  constructor(code: ServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
