export type NodeErrorCode = 'not_a_node_folder' | 'exists' | 'in_use' | 'bad_settings' | 'bad_key' | 'wrong_project' | 'busy' | 'refused' | 'storage'

/** Why the node cannot start or go on; the message says what to do next. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code: NodeErrorCode
  constructor(code: NodeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
