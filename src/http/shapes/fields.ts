/** Fields that several routes take. */
import { z } from 'zod'
import { type ParsedAddress, parseAddress } from '../../mail/address/address.ts'
import { type NamedMailbox, parseNamedMailbox } from '../../mail/address/named-mailbox.ts'
import { MAX_DISPLAY_NAME_LENGTH } from '../../mail/limits.ts'

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

/** A name for people to read; an empty or blank one counts as absent. */
export const displayName = lineOfText(MAX_DISPLAY_NAME_LENGTH).transform((text) =>
  text.trim() === '' ? undefined : text,
)

const mailboxText = z
  .string()
  .transform((text, context): NamedMailbox => {
    const mailbox = parseNamedMailbox(text)
    if (mailbox !== undefined) return mailbox
    const message = 'Not an email address'
    context.addIssue({ code: 'invalid_format', format: 'email', message, input: text })
    return z.NEVER
  })
  .meta({ type: 'string', description: '`ann@example.com` or `Ann <ann@example.com>`' })

const mailboxObject = z
  .object({ name: displayName.optional(), email: emailAddress })
  .transform(({ name, email }): NamedMailbox => ({ address: email, name: name ?? null }))

/** One mailbox: an address, an address with a name before it, or `{name, email}`. */
export const mailbox = z.union([mailboxText, mailboxObject])

/** As `mailbox`, with one text for whatever has neither shape. */
export function describedMailbox(error: string) {
  return z.union([mailboxText, mailboxObject], { error })
}

/** The id of something of ours, as a field of a body. */
export const id = z.guid('Not a UUID').toLowerCase().meta({ type: 'string', format: 'uuid' })

/** An instant in a response. */
export const instant = z.iso.datetime()

/** Of a request that took effect: what of it did not. */
export const warnings = z
  .array(z.string())
  .meta({ description: 'What the request has and nobody knows; left out when there is nothing' })

/** Older clients of this API family read a response there. */
export const againAtTopLevel = { description: 'The same as in `data`, for older clients' }
