/** The content coding of an answer, by what the client accepts (RFC 9110, section 12.5.3). */
import { parseAccept } from 'hono/utils/accept'

export type Coding = 'br' | 'gzip'

/** In the order in which they are preferred. */
const CODINGS: readonly Coding[] = ['br', 'gzip']

/** `accepted`: the header field of the request. Undefined: as it is. */
export function chooseCoding(accepted: string | string[] | undefined): Coding | undefined {
  if (accepted === undefined || accepted.length === 0) return undefined
  const ranges = parseAccept(String(accepted)).map(({ type, q }) => ({
    type: type.toLowerCase(),
    q,
  }))
  const qualityOf = (name: string, ...others: string[]) => {
    const named = [name, ...others, '*'].map((each) => ranges.find(({ type }) => type === each))
    return named.find((range) => range !== undefined)?.q ?? 0
  }
  const qualities = { br: qualityOf('br'), gzip: qualityOf('gzip', 'x-gzip') }
  const [best = 'gzip'] = CODINGS.toSorted((one, other) => qualities[other] - qualities[one])
  const plain = ranges.find(({ type }) => type === 'identity')?.q ?? 0
  return qualities[best] > 0 && qualities[best] >= plain ? best : undefined
}
