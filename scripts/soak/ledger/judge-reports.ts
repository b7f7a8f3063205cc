/**
 * What was handed to the inbound listener: an acknowledged bounce or complaint has changed its email
 * once, an acknowledged reply is stored as often as its octets were taken. Also opens and clicks: no
 * more than there were visits, because those in memory are lost with a kill.
 */
import type { History, ReportRecord } from '../history/history.ts'
import type { Finding, LedgerRow } from './finding.ts'
import type { EmailRow, EventRow, ReceivedRow, Rows } from './rows.ts'

type ReportHistory = Pick<History, 'reports' | 'visits'>
type Stored = {
  emails: readonly EmailRow[]
  events: readonly EventRow[]
  received: readonly ReceivedRow[]
  unread: Rows['unread']
}

const STATUSES = { bounce: 'BOUNCED', complaint: 'COMPLAINED' } as const

export function judgeReports({ reports, visits }: ReportHistory, stored: Stored): LedgerRow[] {
  const byId = new Map(stored.emails.map((email) => [email.id, email]))
  const bySubject = Map.groupBy(stored.received, ({ subject }) => subject)
  const reported = new Set(reports.map(({ emailId }) => emailId))
  const replies = reports.filter(({ kind }) => kind === 'reply')
  return [
    {
      name: 'bounces and complaints',
      count: reports.length - replies.length,
      findings: [
        ...reports.flatMap((report) => judgeReport(report, byId.get(report.emailId))),
        ...stored.emails
          .filter(({ status, id }) => status === 'COMPLAINED' && !reported.has(id))
          .map(({ id }) => ({ id, text: 'nobody complained' })),
      ],
    },
    {
      name: 'replies',
      count: replies.length,
      findings: [
        ...replies.flatMap((each) => judgeReply(each, bySubject.get(each.mark)?.length ?? 0)),
        ...stored.unread.map(({ id, state, error }) => ({ id, text: `${state}: ${error}` })),
      ],
    },
    {
      name: 'opens and clicks',
      count: visits.length,
      findings: judgeVisits({ visits }, stored),
    },
  ]
}

function judgeReport({ kind, outcome, emailId: id }: ReportRecord, email: EmailRow | undefined) {
  if (kind === 'reply' || outcome !== 'acknowledged') return []
  if (email?.status === STATUSES[kind]) return []
  return [{ id, text: `its ${kind} was acknowledged, and it is ${email?.status ?? 'not stored'}` }]
}

function judgeReply({ mark, outcome, tries }: ReportRecord, found: number): Finding[] {
  const least = outcome === 'acknowledged' ? 1 : 0
  if (found >= least && found <= tries) return []
  return [{ id: mark, text: `handed over ${tries} times (${outcome}), stored ${found} times` }]
}

function judgeVisits({ visits }: Pick<History, 'visits'>, { emails, events }: Stored): Finding[] {
  const countVisits = Map.groupBy(visits, ({ emailId, kind }) => `${kind} ${emailId}`)
  const visited = (kind: string, id: string) => countVisits.get(`${kind} ${id}`)?.length ?? 0
  const told = Map.groupBy(events, ({ name, emailId }) => `${name} ${emailId}`)
  return emails.flatMap(({ id, openedAt, clickedAt }) => {
    const found: Finding[] = []
    // A click opens the message, too.
    const opens = visited('open', id) + visited('click', id)
    if (openedAt !== null && opens === 0) found.push({ id, text: 'opened without a visit' })
    if (clickedAt !== null && visited('click', id) === 0) {
      found.push({ id, text: 'clicked without a visit' })
    }
    for (const [name, most] of [
      ['email.open', opens],
      ['email.click', visited('click', id)],
    ] as const) {
      const count = told.get(`${name} ${id}`)?.length ?? 0
      if (count > most) found.push({ id, text: `${count} events ${name} after ${most} visits` })
    }
    return found
  })
}
