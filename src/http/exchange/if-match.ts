/**
 * The header `If-Match` (RFC 9110 section 13.1.1) for records whose entity tag is their version,
 * such as `"3"`. Tags are compared strongly, so a weak one matches no version.
 */
import type { IncomingMessage } from 'node:http'
import { invalidField } from '../../base/errors.ts'

const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/**
 * Returns whether the header names a version; undefined without the header.
 * @throws AppError VALIDATION_ERROR for a header that is neither `*` nor a list of entity tags
 */
export function readIfMatch(
  incoming: Pick<IncomingMessage, 'headers'>,
): ((version: number) => boolean) | undefined {
  const text = incoming.headers['if-match']?.trim()
  if (text === undefined) return undefined
  if (text === '*') return () => true
  const tags = text.split(',').map((tag) => tag.trim())
  if (!tags.every((tag) => TAG.test(tag))) {
    const message = 'Must be a version in quotes, as the header ETag has it: "3"'
    throw invalidField('If-Match', 'invalid_string', message)
  }
  return (version) => tags.includes(`"${version}"`)
}
