/** A message exceeds the quick limits and must be composed on a composing thread. */
export class QuickLimitError extends Error {
  override readonly name = 'QuickLimitError'

  constructor() {
    super('the message takes too long to compose here')
  }
}
