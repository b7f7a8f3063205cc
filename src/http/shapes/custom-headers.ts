/** Header fields that a caller adds to a message. */
import { z } from 'zod'
import { isHeaderName, isRefusedHeader, REFUSED_HEADERS } from '../../mail/compose/custom-header.ts'
import { MAX_HEADER_VALUE_LENGTH, MAX_HEADERS } from '../../mail/limits.ts'
import { lineOfText } from './fields.ts'

export const customHeaders = z
  .record(z.string(), lineOfText(MAX_HEADER_VALUE_LENGTH))
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
    description: `Header fields to add. Not: ${REFUSED_HEADERS.join(', ')}`,
  })

function refusal(name: string): string | undefined {
  if (!isHeaderName(name)) return 'Not a valid name of a header field'
  return isRefusedHeader(name) ? 'This header cannot be set' : undefined
}
