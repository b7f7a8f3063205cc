/** Rules for unknown names in requests on campaigns, and warnings of fields without effect. */
import type { FieldWarning } from '../../../base/errors.ts'
import { type CampaignChanges, listIgnored } from '../../../features/outreach/campaigns/validate.ts'
import { shownCampaign } from '../../../records/campaign.ts'
import type { NameRules } from '../../unknown-names.ts'

/**
 * With a misspelt field, the campaign would go to everybody, from another sender, or at once: a
 * name near a guarded field is refused.
 */
export const campaignNames: NameRules = {
  record: shownCampaign,
  ways: {
    status:
      'POST /campaigns/:id/send, /cancel, /pause and /resume change it; for a draft again, cancel the campaign and POST /campaigns/:id/duplicate',
    archived: 'POST /campaigns/:id/archive or /unarchive',
  },
  guarded: [
    'audienceType',
    'segmentId',
    'audienceCondition',
    'audienceFilter',
    'from',
    'fromName',
    'replyTo',
    'scheduledFor',
    'scheduledAt',
  ],
  aliases: {
    audience: 'audienceType',
    segment: 'segmentId',
    segments: 'segmentId',
    segmentIds: 'segmentId',
    list: 'segmentId',
    lists: 'segmentId',
    listId: 'segmentId',
    listIds: 'segmentId',
    filter: 'audienceFilter',
    condition: 'audienceCondition',
    conditions: 'audienceCondition',
    sender: 'from',
    fromEmail: 'from',
    senderName: 'fromName',
    reply: 'replyTo',
    sendAt: 'scheduledAt',
    scheduled: 'scheduledAt',
    schedule: 'scheduledAt',
    html: 'body',
    htmlBody: 'body',
    content: 'body',
    title: 'subject',
    template: 'templateId',
  },
}

/** Warns of audience fields that have no effect, because the audience is everybody. */
export function warnOfIgnored({
  body,
  warn,
}: {
  body: CampaignChanges
  warn(warning: FieldWarning): void
}): void {
  for (const field of listIgnored(body)) {
    const message = 'Ignored: with the audienceType ALL the campaign goes to every contact.'
    warn({ field, message, suggestion: null })
  }
}
