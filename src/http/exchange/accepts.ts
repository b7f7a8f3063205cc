/** What a client wants to get (RFC 9110, section 12.5.1). */
import { parseAccept } from 'hono/utils/accept'

type MediaRange = ReturnType<typeof parseAccept>[number]

/**
 * Whether a client prefers `type` to JSON. JSON is for clients that take both equally, that take anything,
 * or that name neither.
 */
export function prefers(type: string, accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = parseAccept(accept)
  return qualityOf(type, ranges) > qualityOf('application/json', ranges)
}

/** The most specific range that matches counts; 0 without one. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const [group = ''] = type.split('/')
  for (const wanted of [type, `${group}/*`, '*/*']) {
    const found = ranges.find((range) => range.type.toLowerCase() === wanted)
    if (found !== undefined) return found.q
  }
  return 0
}
