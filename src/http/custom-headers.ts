/**
 * Header fields that a caller adds to a message (section 0). Those that say who wrote it, to whom
 * and by which way, or that its MIME structure and signatures depend on, are ours alone.
 */
import { z } from 'zod'
import { lineOfText } from './fields.ts'

const MAX_HEADERS = 50
const MAX_NAME_LENGTH = 255
const MAX_VALUE_LENGTH = 998

/** RFC 5322 section 2.2: printable ASCII but the colon, narrowed to tokens (RFC 9110). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const refusedNames = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'return-path',
  'received',
  'dkim-signature',
  'authentication-results',
  'mime-version',
  'date',
])
const refusedPrefixes = ['arc-', 'resent-', 'content-', 'x-pillarbox-']

export const customHeaders = z
  .record(z.string(), lineOfText(MAX_VALUE_LENGTH))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    if (names.length > MAX_HEADERS) {
      const message = `At most ${MAX_HEADERS} headers`
      context.addIssue({ code: 'custom', message, params: { code: 'too_big' } })
    }
    for (const name of names) {
      const message = refusal(name)
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
    }
  })
  .meta({
    maxProperties: MAX_HEADERS,
    description: `Header fields to add. Not: ${[...refusedNames].join(', ')}, ${refusedPrefixes
      .map((prefix) => `${prefix}*`)
      .join(', ')}`,
  })

function refusal(name: string): string | undefined {
  if (!token.test(name) || name.length > MAX_NAME_LENGTH) return 'Not a name of a header field'
  const lower = name.toLowerCase()
  const isRefused =
    refusedNames.has(lower) || refusedPrefixes.some((prefix) => lower.startsWith(prefix))
  return isRefused ? 'This header cannot be set' : undefined
}
