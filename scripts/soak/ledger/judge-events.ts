/**
 * Events against what was acknowledged: each acknowledged one is stored once, an unknown one at most
 * once, and each outcome of an email has its events.
 */
import type { EventRecord, History } from '../history/history.ts'
import type { Finding, LedgerRow } from './finding.ts'
import type { EmailRow, EventRow } from './rows.ts'

export function judgeEvents(
  { events: records }: Pick<History, 'events'>,
  { events, emails }: { events: readonly EventRow[]; emails: readonly EmailRow[] },
): LedgerRow[] {
  const names = new Set(records.map(({ name }) => name))
  const tracked = events.filter(({ name, project }) => project === 'main' && names.has(name))
  const byNumber = Map.groupBy(tracked, ({ number }) => number)
  const known = new Set(records.map(({ number }) => number))
  const ofEmails = Map.groupBy(events, ({ emailId }) => emailId)
  return [
    {
      name: 'events acknowledged',
      count: records.filter(({ outcome }) => outcome === 'acknowledged').length,
      note: `${records.filter(({ outcome }) => outcome === 'unknown').length} without an answer`,
      findings: [
        ...records.flatMap((record) => judgeEvent(record, byNumber.get(record.number) ?? [])),
        ...tracked
          .filter(({ number }) => number === null || !known.has(number))
          .map(({ id, name }) => ({ id, text: `nobody tracked this ${name}` })),
      ],
    },
    {
      name: 'events of emails',
      count: events.filter(({ emailId }) => emailId !== null).length,
      findings: emails.flatMap((email) => judgeEmailEvents(email, ofEmails.get(email.id) ?? [])),
    },
  ]
}

function judgeEvent({ number, name, outcome, id }: EventRecord, rows: readonly EventRow[]) {
  const stored = rows.map((row) => row.id)
  if (stored.length > 1) return [{ id: stored[0] ?? '', text: `${name} ${number} is stored twice` }]
  if (outcome === 'refused' && stored.length > 0) {
    return [{ id: stored[0] ?? '', text: `${name} ${number} was refused, and is stored` }]
  }
  if (outcome !== 'acknowledged' || stored[0] === id) return []
  return [{ id: id ?? '', text: `${name} ${number} was acknowledged, and is not stored` }]
}

/** How many events of a name an email in a state must have. */
function judgeEmailEvents({ id, state, status }: EmailRow, events: readonly EventRow[]): Finding[] {
  const count = (name: string) =>
    events.filter((event) => event.name === name && event.data.bounceType !== 'Transient').length
  const expected: [string, number | null][] = [
    ['email.sent', state === 'delivered' ? 1 : null],
    ['email.delivery', state === 'delivered' ? 1 : null],
    ['email.bounce', state === 'bounced' ? 1 : null],
    ['email.complaint', status === 'COMPLAINED' ? 1 : null],
  ]
  return expected.flatMap(([name, wanted]) => {
    const found = count(name)
    const isRight = wanted === null ? found <= 1 : found === wanted
    return isRight ? [] : [{ id, text: `${state} with ${found} events ${name}` }]
  })
}
