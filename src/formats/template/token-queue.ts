/**
 * Hands tokens to the library's parser. It shifts tokens off an array, and on a long array each
 * shift costs time in proportion to its length.
 */
import type { Parser, Template, TopLevelToken } from 'liquidjs'

/** An array in reverse order whose `shift` takes the last element. */
class TokenQueue extends Array<TopLevelToken> {
  override shift(): TopLevelToken | undefined {
    return this.pop()
  }
}

export function parseTokens(parser: Parser, tokens: readonly TopLevelToken[]): Template[] {
  const queue = new TokenQueue()
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index]
    if (token !== undefined) queue.push(token)
  }
  return parser.parseTokens(queue)
}
