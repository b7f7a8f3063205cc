/** The error of a message that exceeds the quick limits: a composing thread must compose it. */
export class QuickLimitError extends Error {
  override readonly name = 'QuickLimitError'

  constructor() {
    super('the message takes too long to compose here')
  }
}
