/** `POST /render`: previews of texts, templates and campaigns. */
import { z } from 'zod'
import { renderRequest } from '../../features/outreach/campaigns/render.ts'
import { MAX_SUBJECT_LENGTH } from '../../formats/limits.ts'
import { MAX_TEMPLATE_LENGTH } from '../../formats/template/limits.ts'
import { id, lineOfText } from '../../records/fields.ts'
import { contentClass, renderedPreview } from '../../records/template.ts'
import { RENDERING_LIMITS } from '../../turns/rendering.ts'
import { largeJson, RENDERED_ANSWER_BYTES } from '../exchange/large-json.ts'
import { MAX_RESPONSE_WARNINGS } from '../exchange/warnings.ts'
import { projectOperation, type RouteDeps } from '../route.ts'
import { findWeakData, warningText } from '../weak-data.ts'

/** JSON may write each character as \uXXXX. The data has at most 64 KB. */
export const MAX_TEXT_REQUEST_BYTES = MAX_TEMPLATE_LENGTH * 6 + 512 * 1024

const preview = z.object({
  subject: lineOfText(MAX_SUBJECT_LENGTH).min(1).optional().meta({
    description:
      'Required with `body`; otherwise in place of the subject of the template or campaign',
  }),
  body: z.string().min(1).max(MAX_TEMPLATE_LENGTH).optional().meta({ description: 'HTML' }),
  templateId: id.optional(),
  campaignId: id.optional(),
  type: contentClass.optional().meta({
    description:
      'By default the type of the template or campaign, and MARKETING for a `body`; only MARKETING has a footer',
  }),
  contactId: id.optional().meta({
    description: 'The contact to render for; without it, nobody whose data is empty',
  }),
  data: z
    .unknown()
    .optional()
    .meta({ description: 'An object of variables, as in a send; nothing is stored' }),
})

const FIELD_ALIASES = {
  html: 'body',
  htmlBody: 'body',
  content: 'body',
  template: 'templateId',
  campaign: 'campaignId',
  contact: 'contactId',
  variables: 'data',
}

export const render = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Campaigns',
    isRead: true,
    summary: 'Render a text, a template or a campaign as a send would',
    answerBytes: RENDERED_ANSWER_BYTES,
    answerLimits: RENDERING_LIMITS,
    description:
      'Takes one of `body`, `templateId` and `campaignId`. Nothing is stored or sent. Links are not ' +
      'tracked, and the links to the hosted pages belong to nobody.',
    names: { aliases: FIELD_ALIASES, isInAnswer: true },
    body: preview,
    maxBodyBytes: MAX_TEXT_REQUEST_BYTES,
    responses: { 200: { description: 'The rendered message', schema: renderedPreview } },
    refusals: [400, 404],
    example: () => ({
      request: {
        subject: 'Your order {{ order }}',
        body: '<table><tr><td>Thank you, {{ name }}.</td></tr></table>',
        type: 'TRANSACTIONAL',
        data: { name: 'Ann', order: 'A-7' },
      },
      status: 200,
      response: {
        subject: 'Your order A-7',
        html: '<table><tr><td>Thank you, Ann.</td></tr></table>',
        text: 'Thank you, Ann.',
        sizeBytes: 48,
        warnings: [],
        unknownFields: [],
      },
    }),
    handle: async ({ project, body, warnings }) => {
      const unknownFields = warnings.slice(0, MAX_RESPONSE_WARNINGS)
      const message = await renderRequest(core, project, body)
      const weak = findWeakData(body.data).map(warningText)
      return largeJson(200, { ...message, warnings: [...weak, ...message.warnings], unknownFields })
    },
  })
