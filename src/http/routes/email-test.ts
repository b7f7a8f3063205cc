/** `POST /emails/test`: a test of a text or of a template, which a session may send too. */

import { createTemplateChecker } from '../../features/mail/messages/accept/template-check.ts'
import { sendEmailTest } from '../../features/outreach/tests/send-email-test.ts'
import { sendAnswer } from '../../records/email.ts'
import { emailTest } from '../../records/email-test.ts'
import { projectOperation, type RouteDeps } from '../route.ts'
import { toWarningTexts } from '../unknown-names.ts'
import { findWeakData } from '../weak-data.ts'
import * as examples from './email-examples.ts'
import { MAX_TEXT_REQUEST_BYTES } from './render.ts'
import { sendQuery } from './send.ts'
import { sentResponse, toSentEmails } from './sent-emails.ts'

const FIELD_ALIASES = {
  html: 'body',
  htmlBody: 'body',
  content: 'body',
  template: 'templateId',
  contact: 'contactId',
  variables: 'data',
  email: 'to',
  emails: 'to',
  recipients: 'to',
  sender: 'from',
}

export const test = ({ core }: RouteDeps) => {
  const find = createTemplateChecker(core.outbound)
  return projectOperation({
    tag: 'Emails',
    summary: 'Send a test of a text or of a template',
    description:
      'Takes one of `body` and `templateId`. The subject begins with "[TEST]", and the message has the header ' +
      '`X-Pillarbox-Test: 1`. A test is never tracked, is in no figure and counts for no template. It goes to ' +
      'unsubscribed contacts too. With a suppressed address nothing is sent. An unknown address becomes a contact, ' +
      'as in a send; no contact gets the data. Tests count for the limits of the project by the month (402).',
    query: sendQuery,
    names: { aliases: FIELD_ALIASES },
    body: emailTest,
    maxBodyBytes: MAX_TEXT_REQUEST_BYTES,
    responses: { 200: { description: 'Accepted: stored and queued', schema: sendAnswer } },
    refusals: [400, 402, 403, 404],
    example: examples.test,
    handle: async (call) => {
      const { project, query, body } = call
      for (const warning of findWeakData(body.data)) call.warn(warning)
      const told = toWarningTexts(call.warnings)
      const check = { find, onFault: query.onTemplateFault, body: body.body }
      const accepted = await sendEmailTest(core, project, { test: body, check })
      return sentResponse(toSentEmails(accepted), told)
    },
  })
}
