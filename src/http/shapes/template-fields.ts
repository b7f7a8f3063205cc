/** The fields that templates and campaigns have in requests. */
import { z } from 'zod'
import { MAX_FROM_NAME_LENGTH } from '../../features/mail/templates/validate.ts'
import type { ParsedAddress } from '../../formats/address/address.ts'
import type { NamedMailbox } from '../../formats/address/named-mailbox.ts'
import { MAX_SUBJECT_LENGTH } from '../../formats/limits.ts'
import { MAX_TEMPLATE_LENGTH } from '../../formats/template/limits.ts'
import { emailAddress, lineOfText, mailbox } from '../../records/fields.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH } from '../../records/limits.ts'
import { CONTENT_CLASSES } from '../../records/words.ts'

export const contentClass = z.enum(CONTENT_CLASSES)

const sender = mailbox
  .refine(
    ({ name }) => (name ?? '').length <= MAX_FROM_NAME_LENGTH,
    `The name must be at most ${MAX_FROM_NAME_LENGTH} characters long`,
  )
  .meta({ description: 'A name in it is the `fromName`, unless that is given' })

export const templateFields = {
  name: lineOfText(MAX_NAME_LENGTH).min(1),
  description: z.string().max(MAX_DESCRIPTION_LENGTH).nullable(),
  subject: lineOfText(MAX_SUBJECT_LENGTH).min(1),
  body: z.string().min(1).max(MAX_TEMPLATE_LENGTH).meta({ description: 'HTML' }),
  from: sender,
  fromName: lineOfText(MAX_FROM_NAME_LENGTH).nullable(),
  replyTo: emailAddress.nullable().meta({ type: ['string', 'null'] }),
  type: contentClass,
}

type Sender = { from?: NamedMailbox | undefined; fromName?: string | null | undefined }
type Apart<Body extends Sender> = Omit<Body, 'from'> & {
  from: undefined extends Body['from'] ? ParsedAddress | undefined : ParsedAddress
}

/** The address and the name of the sender apart, as they are stored. A given `fromName` is the name. */
export function apartSender<Body extends Sender>(body: Body): Apart<Body> {
  const { from, ...rest } = body
  // An absent one stays absent: a template may have it.
  if (from === undefined) return rest as Apart<Body>
  const isNamed = from.name !== null && (rest.fromName ?? '').trim() === ''
  const name = isNamed ? { fromName: from.name } : {}
  return { ...rest, ...name, from: from.address } as unknown as Apart<Body>
}
