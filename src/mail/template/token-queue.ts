/** The library takes tokens off the front of an array, which is quadratic on long ones. */
import type { Parser, Template, TopLevelToken } from 'liquidjs'

/** An array in reverse order whose front is at its end. */
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
