/** The fields that templates and campaigns have in requests. */
import { z } from 'zod'
import { MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH } from '../../features/limits.ts'
import { MAX_FROM_NAME_LENGTH } from '../../features/templates/validate.ts'
import { MAX_SUBJECT_LENGTH } from '../../mail/limits.ts'
import { MAX_TEMPLATE_LENGTH } from '../../mail/template/limits.ts'
import { emailAddress, lineOfText } from './fields.ts'

export const contentClass = z.enum(['TRANSACTIONAL', 'MARKETING', 'HEADLESS'])

export const templateFields = {
  name: lineOfText(MAX_NAME_LENGTH).min(1),
  description: z.string().max(MAX_DESCRIPTION_LENGTH).nullable(),
  subject: lineOfText(MAX_SUBJECT_LENGTH).min(1),
  body: z.string().min(1).max(MAX_TEMPLATE_LENGTH).meta({ description: 'HTML' }),
  from: emailAddress,
  fromName: lineOfText(MAX_FROM_NAME_LENGTH).nullable(),
  replyTo: emailAddress.nullable().meta({ type: ['string', 'null'] }),
  type: contentClass,
}
