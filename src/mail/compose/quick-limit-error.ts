/**
 * A message takes longer to make than whoever makes it here may take: it is to be made where nobody
 * waits for it.
 */
export class QuickLimitError extends Error {
  override readonly name = 'QuickLimitError'

  constructor() {
    super('the message takes long to make')
  }
}
