/**
 * Requests for emails against rows of emails. An acknowledged request has exactly one email for each
 * recipient, under the acknowledged id; an unknown one has all of them once, or none; a refused one none.
 * Every other email is of a campaign or of an execution.
 */
import type { History, SendRecord } from '../history/history.ts'
import type { Finding, LedgerRow } from './finding.ts'
import type { EmailRow } from './rows.ts'

export function judgeAcceptance(
  { sends, erased }: Pick<History, 'sends' | 'erased'>,
  rows: readonly EmailRow[],
): LedgerRow[] {
  const asked = rows.filter(({ campaignId, executionId }) => (campaignId ?? executionId) === null)
  const byNumber = Map.groupBy(asked, ({ number }) => number)
  const isErased = (to: string) => erased.has(to)
  const judge = (outcome: SendRecord['outcome']) =>
    sends
      .filter((send) => send.outcome === outcome)
      .flatMap((send) => judgeSend(send, byNumber.get(send.number) ?? [], isErased))
  const known = new Set(sends.map(({ number }) => number))
  const foreign = asked.filter(({ number }) => number === null || !known.has(number))
  const count = (outcome: SendRecord['outcome']) =>
    sends.filter((send) => send.outcome === outcome).reduce((sum, { to }) => sum + to.length, 0)
  return [
    {
      name: 'emails acknowledged',
      count: count('acknowledged'),
      findings: judge('acknowledged'),
    },
    { name: 'emails without an answer', count: count('unknown'), findings: judge('unknown') },
    { name: 'emails refused', count: count('refused'), findings: judge('refused') },
    {
      name: 'emails that nobody asked for',
      count: foreign.length,
      findings: foreign.map(({ id, recipient }) => ({ id, text: `to ${recipient}: no request` })),
    },
  ]
}

function judgeSend(
  send: SendRecord,
  rows: readonly EmailRow[],
  isErased: (to: string) => boolean,
): Finding[] {
  if (send.outcome === 'refused') {
    return rows.map(({ id }) => ({ id, text: `request ${send.number} was refused` }))
  }
  const findings = send.to.flatMap((to, index) => {
    const emails = rows.filter(({ recipient }) => recipient === to)
    const id = send.ids[index]
    if (send.outcome === 'acknowledged') return judgeAcknowledged(id, emails, isErased(to))
    return emails.length > 1 ? [repeated(emails)] : []
  })
  const strangers = rows.filter(({ recipient }) => !send.to.includes(recipient))
  const isPartial = send.outcome === 'unknown' && rows.length > 0 && rows.length < send.to.length
  return [
    ...findings,
    ...strangers.map(({ id, recipient }) => ({ id, text: `${recipient} was not asked for` })),
    ...(isPartial
      ? [{ id: rows[0]?.id ?? '', text: `request ${send.number} was carried out in part` }]
      : []),
  ]
}

function judgeAcknowledged(
  id: string | undefined,
  emails: readonly EmailRow[],
  isErased: boolean,
): Finding[] {
  if (emails.length > 1) return [repeated(emails)]
  if (id === undefined) return [{ id: '', text: 'acknowledged without an id' }]
  if (emails.length === 0) return isErased ? [] : [{ id, text: 'acknowledged, and not stored' }]
  return emails[0]?.id === id ? [] : [{ id, text: `acknowledged, but ${emails[0]?.id} is stored` }]
}

function repeated(emails: readonly EmailRow[]): Finding {
  const [first] = emails
  return {
    id: first?.id ?? '',
    text: `stored ${emails.length} times: ${emails.map(({ id }) => id)}`,
  }
}
