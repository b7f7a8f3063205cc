/** The request for a test of a text or of a template. */
import { z } from 'zod'
import { MAX_SUBJECT_LENGTH } from '../formats/limits.ts'
import { MAX_TEMPLATE_LENGTH } from '../formats/template/limits.ts'
import { describedMailbox, id, lineOfText, mailboxes } from './fields.ts'
import { MAX_TEST_ADDRESSES } from './limits.ts'

export const emailTest = z
  .object({
    to: mailboxes(MAX_TEST_ADDRESSES).meta({
      description: `At most ${MAX_TEST_ADDRESSES}; an address that occurs twice gets one email`,
    }),
    from: describedMailbox('Must be an email address or an object {name, email}').optional().meta({
      description:
        'By default the sender of the template; without a template, that of the sandbox. Required elsewhere',
    }),
    subject: lineOfText(MAX_SUBJECT_LENGTH).min(1).optional().meta({
      description: 'Required with `body`; otherwise in place of the subject of the template',
    }),
    body: z.string().min(1).max(MAX_TEMPLATE_LENGTH).optional().meta({ description: 'HTML' }),
    templateId: id.optional(),
    contactId: id.optional().meta({
      description: "The contact to render as; by default each address' own",
    }),
    data: z.unknown().optional().meta({
      description: 'An object of variables, as in a send; no contact gets them',
    }),
  })
  .superRefine(({ subject, body, templateId }, context) => {
    if ((body === undefined) === (templateId === undefined)) {
      const message = 'Exactly one of body and templateId is required'
      context.addIssue({ code: 'custom', path: ['body'], message })
    } else if (body !== undefined && subject === undefined) {
      const message = 'Required beside body'
      context.addIssue({ code: 'custom', path: ['subject'], message, params: { code: 'required' } })
    }
  })
