/** The quick limits do not suffice for a message: compose it on a thread where nothing waits. */
export class QuickLimitError extends Error {
  override readonly name = 'QuickLimitError'

  constructor() {
    super('the message takes too long to compose here')
  }
}
