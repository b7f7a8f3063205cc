/** Shapes of fields that several routes share. */
import { z } from 'zod'
import { NOT_ONE_LINE_TEXT, tooLongText } from '../../errors.ts'
import type { ParsedAddress } from '../../mail/address/address.ts'
import {
  type NamedMailbox,
  parseNamedMailbox,
  parseShownAddress,
  toNamedMailbox,
} from '../../mail/address/named-mailbox.ts'
import { MAX_DISPLAY_NAME_LENGTH } from '../../mail/limits.ts'

/** Excludes line breaks, NUL and all other control characters but the tab, as header fields do. */
const ONE_LINE = /^[^\x00-\x08\x0a-\x1f\x7f]*$/

/** Text for a header field of a message. */
export function lineOfText(maxLength: number) {
  return z.string().max(maxLength, tooLongText(maxLength)).regex(ONE_LINE, NOT_ONE_LINE_TEXT)
}

/** A parsed address, also of `a@example.com <a@example.com>`; surrounding spaces are ignored. */
export const emailAddress = z
  .string()
  .transform((text, context): ParsedAddress => {
    const address = parseShownAddress(text)
    if (address !== undefined) return address
    const message = 'Not an email address'
    context.addIssue({ code: 'invalid_format', format: 'email', message, input: text })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'email' })

/** A display name; a blank one counts as absent. */
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
  .transform(({ name, email }) => toNamedMailbox(email, name ?? null))

/** One mailbox: `address`, `Name <address>`, or `{name, email}`. */
export const mailbox = z.union([mailboxText, mailboxObject])

/** Like `mailbox`, with `error` as the message for a value of any other shape. */
export function describedMailbox(error: string) {
  return z.union([mailboxText, mailboxObject], { error })
}

/** The id of a record, as a field of a body. */
export const id = z.guid('Not a UUID').toLowerCase().meta({ type: 'string', format: 'uuid' })

/** An instant in a response. */
export const instant = z.iso.datetime()

/** In the response to an accepted request: what had no effect, or was lost. */
export const warnings = z.array(z.string()).meta({
  description:
    'Unknown fields of the request, and what a message goes without; absent if there is nothing',
})

export const fieldWarnings = z
  .array(z.object({ field: z.string(), message: z.string(), suggestion: z.string() }))
  .meta({ description: 'Fields of the request that had no effect, or not all; absent without any' })

/** Describes fields that older clients of this API family read at the top level. */
export const againAtTopLevel = { description: 'The same as in `data`, for older clients' }
