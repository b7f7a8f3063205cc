/** Shapes of fields that several routes share. */
import { z } from 'zod'
import { NOT_ONE_LINE_TEXT, tooLongText } from '../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../formats/address/address.ts'
import {
  mayBeMailbox,
  type NamedMailbox,
  parseNamedMailbox,
  parseShownAddress,
  toNamedMailbox,
} from '../formats/address/named-mailbox.ts'
import { MAX_DISPLAY_NAME_LENGTH } from '../formats/limits.ts'
import { ONE_FIELD_LINE } from '../formats/one-line.ts'

/** Text for a header field of a message. */
export function lineOfText(maxLength: number) {
  return z.string().max(maxLength, tooLongText(maxLength)).regex(ONE_FIELD_LINE, NOT_ONE_LINE_TEXT)
}

/**
 * Parses one address; also accepts `a@example.com <a@example.com>`. Spaces around the text are
 * ignored.
 */
export const emailAddress = z
  .string()
  .transform((text, context): ParsedAddress => {
    const address = parseShownAddress(text)
    if (address !== undefined) return address
    const message = faultOfAddress(text)
    context.addIssue({ code: 'invalid_format', format: 'email', message, input: text })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'email' })

/**
 * The error message for a text that is no address. `several`: the message if the text has several
 * addresses. The text may be as long as a request body.
 */
function faultOfAddress(text: string, several = 'One address is expected, not several'): string {
  const afterFirst = text.slice(text.indexOf('@') + 1)
  const separator = afterFirst.search(/[,;]/)
  const areSeveral = separator >= 0 && afterFirst.includes('@', separator)
  return areSeveral ? several : 'Not an email address'
}

/**
 * The error message for a name that must be quoted, as in `Shop, Inc. <a@example.com>`; undefined
 * for any other text.
 */
function faultOfName(text: string): string | undefined {
  if (!mayBeMailbox(text)) return undefined
  const opening = text.lastIndexOf('<')
  const name = text.slice(0, Math.max(opening, 0)).trim()
  const isAddress = text.endsWith('>') && parseAddress(text.slice(opening + 1, -1)) !== undefined
  if (!isAddress || /[@"<>]/.test(name) || !/[,;:\\]/.test(name)) return undefined
  return 'Not an email address: write a name with such marks in quotes, as in "Shop, Inc." <shop@example.com>, or as {name, email}'
}

/** A display name; a blank one counts as absent. */
export const displayName = lineOfText(MAX_DISPLAY_NAME_LENGTH).transform((text) =>
  text.trim() === '' ? undefined : text,
)

function textOfMailbox(several?: string) {
  return z
    .string()
    .transform((text, context): NamedMailbox => {
      const mailbox = parseNamedMailbox(text)
      if (mailbox !== undefined) return mailbox
      const message = faultOfName(text) ?? faultOfAddress(text, several)
      context.addIssue({ code: 'invalid_format', format: 'email', message, input: text })
      return z.NEVER
    })
    .meta({ type: 'string', description: '`ann@example.com` or `Ann <ann@example.com>`' })
}

const mailboxText = textOfMailbox()

const mailboxObject = z
  .object({ name: displayName.optional(), email: emailAddress })
  .transform(({ name, email }) => toNamedMailbox(email, name ?? null))

/** One mailbox: `address`, `Name <address>`, or `{name, email}`. */
export const mailbox = z.union([mailboxText, mailboxObject])

/** One mailbox, or a list of mailboxes; the result is a list. */
export function mailboxes(max: number) {
  const several = 'Several addresses are a list: ["ann@example.com", "bob@example.com"]'
  return z
    .union([textOfMailbox(several), mailboxObject, z.array(mailbox).min(1).max(max)])
    .transform((given) => (Array.isArray(given) ? given : [given]))
}

/** Like `mailbox`, with `error` as the message for a value of any other shape. */
export function describedMailbox(error: string) {
  return z.union([mailboxText, mailboxObject], { error })
}

/** The id of a record, as a field of a body. */
export const id = z.guid('Not a UUID').toLowerCase().meta({ type: 'string', format: 'uuid' })

/** An instant in a response. */
export const instant = z.iso.datetime()

/**
 * Warnings in the response to an accepted request: parts of the request that had no effect or were
 * lost.
 */
export const warnings = z.array(z.string()).meta({
  description:
    'Unknown fields of the request, and what a message goes without; absent if there is nothing',
})

const fieldWarning = z
  .object({ field: z.string(), message: z.string(), suggestion: z.string().nullable() })
  .meta({ id: 'FieldWarning' })

export const fieldWarnings = z.array(fieldWarning).meta({
  description:
    'Fields of the request that had no effect, or not all, each with the name or the change that was probably meant; at most 20, absent without any',
})

/** Describes fields that older clients of this API family read at the top level. */
export const againAtTopLevel = { description: 'The same as in `data`, for older clients' }
