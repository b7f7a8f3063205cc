/** Campaigns: each contact of the audience has one email, or is counted as unsubscribed; none has two. */
import type { CampaignRecord, History } from '../history/history.ts'
import type { Finding, LedgerRow } from './finding.ts'
import type { CampaignRow, EmailRow } from './rows.ts'

export function judgeCampaigns(
  { campaigns }: Pick<History, 'campaigns'>,
  { campaigns: rows, emails }: { campaigns: readonly CampaignRow[]; emails: readonly EmailRow[] },
): LedgerRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const ofCampaigns = Map.groupBy(emails, ({ campaignId }) => campaignId)
  ofCampaigns.delete(null)
  const known = new Set(campaigns.map(({ id }) => id))
  const foreign = [...ofCampaigns.keys()].filter((id) => !known.has(id ?? ''))
  return [
    {
      name: 'campaigns',
      count: campaigns.length,
      note: `${rows.filter(({ status }) => status === 'CANCELLED').length} cancelled`,
      findings: [
        ...campaigns.flatMap((record) =>
          judgeCampaign(record, byId.get(record.id), ofCampaigns.get(record.id) ?? []),
        ),
        ...foreign.map((id) => ({ id: id ?? '', text: 'nobody sent this campaign' })),
      ],
    },
    {
      name: 'emails of campaigns',
      count: [...ofCampaigns.values()].reduce((sum, { length }) => sum + length, 0),
      findings: campaigns.flatMap((record) =>
        judgeRecipients(record, ofCampaigns.get(record.id) ?? []),
      ),
    },
  ]
}

function judgeCampaign(
  { id, audience, send, cancel }: CampaignRecord,
  row: CampaignRow | undefined,
  emails: readonly EmailRow[],
): Finding[] {
  if (row === undefined) return [{ id, text: 'acknowledged, and not stored' }]
  const { status, rowsMade, skippedUnsubscribed } = row
  const found: string[] = []
  const allowed = [
    ...(cancel === 'acknowledged' ? [] : ['SENT']),
    ...(cancel === undefined ? [] : ['CANCELLED']),
    ...(send === 'acknowledged' ? [] : ['DRAFT']),
  ]
  if (!allowed.includes(status)) found.push(`it is ${status} and should be ${allowed.join(' or ')}`)
  if (rowsMade !== emails.length) found.push(`${rowsMade} emails made, ${emails.length} stored`)
  const reached = emails.length + skippedUnsubscribed
  if (status === 'SENT' && reached !== audience.length) {
    found.push(`${reached} of ${audience.length} contacts were reached or skipped`)
  }
  return found.map((text) => ({ id, text }))
}

function judgeRecipients({ audience }: CampaignRecord, emails: readonly EmailRow[]): Finding[] {
  const wanted = new Set(audience)
  const seen = new Set<string>()
  return emails.flatMap(({ id, recipient }) => {
    const isRepeated = seen.has(recipient)
    seen.add(recipient)
    if (isRepeated) return [{ id, text: `${recipient} has two emails of the campaign` }]
    return wanted.has(recipient) ? [] : [{ id, text: `${recipient} is not in the audience` }]
  })
}
