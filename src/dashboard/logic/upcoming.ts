/** What comes next, in a few lines: scheduled campaigns one by one, the mail and the people of workflows together. */

type Upcoming = { type: string; timestamp: string; metadata: Readonly<Record<string, unknown>> }

/** `first`: the instant of the first one. `recipients`: 0 until the audience was counted. */
export type NextLine =
  | { kind: 'campaign'; id: string; name: string; first: string; recipients: number }
  | { kind: 'emails' | 'people'; id: string; name: string; first: string; count: number }

const KINDS: Readonly<Record<string, 'emails' | 'people'>> = {
  'workflow.email.scheduled': 'emails',
}

/** The lines in the order of the activities, which is that of their instants. */
export function listNextLines(activities: readonly Upcoming[]): NextLine[] {
  const lines = new Map<string, NextLine>()
  for (const { type, timestamp, metadata } of activities) {
    if (type === 'campaign.scheduled') {
      const id = String(metadata.campaignId)
      const recipients = Number(metadata.totalRecipients ?? 0)
      const name = String(metadata.campaignName ?? '')
      lines.set(id, { kind: 'campaign', id, name, first: timestamp, recipients })
      continue
    }
    const kind = KINDS[type] ?? 'people'
    const id = `${kind} ${String(metadata.workflowId)}`
    const known = lines.get(id)
    if (known !== undefined && 'count' in known) known.count += 1
    else {
      const name = String(metadata.workflowName ?? '')
      lines.set(id, { kind, id, name, first: timestamp, count: 1 })
    }
  }
  return [...lines.values()]
}
