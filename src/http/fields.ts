/** Fields that several routes take. */
import { z } from 'zod'
import { type ParsedAddress, parseAddress } from '../mail/address.ts'

/** Line breaks, NUL and all other controls but the tab: none has a place in a header field. */
const oneLine = /^[^\x00-\x08\x0a-\x1f\x7f]*$/

/** Text that will stand in a header field of a message. */
export function lineOfText(maxLength: number) {
  return z
    .string()
    .max(maxLength, `Must be at most ${maxLength} characters long`)
    .regex(oneLine, 'Must not contain line breaks or control characters')
}

/** An address, parsed; spaces around it are not part of it. */
export const emailAddress = z
  .string()
  .transform((text, context): ParsedAddress => {
    const address = parseAddress(text)
    if (address !== undefined) return address
    const message = 'Not an email address'
    context.addIssue({ code: 'invalid_format', format: 'email', message, input: text })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'email' })

/** The id of something of ours, as a field of a body. */
export const id = z.guid('Not a UUID').toLowerCase().meta({ type: 'string', format: 'uuid' })

/** An instant in a response. */
export const instant = z.iso.datetime()
