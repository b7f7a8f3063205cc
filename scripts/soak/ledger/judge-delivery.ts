/**
 * Emails against what receivers saw of them.
 *
 *   delivered    a receiver answered 250
 *   bounced      a receiver refused it for good, the domain does not exist, or a bounce was reported
 *   failed       it was cancelled, given up late enough, or stopped with its campaign or contact
 *   suppressed   mail to the address bounced or was complained about before
 *
 * An email may reach a final dot again only if the receiver gave no answer, or if the server or the
 * connection was disrupted meanwhile; and the server's own attempts must say each time that it may have
 * arrived, because an outcome that is on disk is not repeated.
 */
import type { Arrival, History } from '../history/history.ts'
import { NO_SUCH_DOMAIN } from '../plan/sites.ts'
import { type Finding, isDisrupted, type LedgerRow } from './finding.ts'
import type { EmailRow } from './rows.ts'

export type DeliveryHistory = Pick<
  History,
  | 'arrivals'
  | 'refusals'
  | 'reports'
  | 'cancellations'
  | 'campaigns'
  | 'disruptions'
  | 'erased'
  | 'unsubscriptions'
>

type Witness = {
  arrivals: Map<string, Arrival[]>
  refused: Set<string>
  bounced: Set<string>
  cancelled: Set<string>
  /** Addresses that bounced, complained or unsubscribed. */
  withdrawn: Set<string>
  history: DeliveryHistory
  giveUpMs: number
}

const FINAL: ReadonlySet<string> = new Set(['delivered', 'bounced', 'failed', 'suppressed'])

export function judgeDelivery(
  history: DeliveryHistory,
  rows: readonly EmailRow[],
  giveUpMs: number,
): LedgerRow[] {
  const witness = gather(history, rows, giveUpMs)
  const counts = Map.groupBy(rows, ({ state }) => state)
  const repeated = [...witness.arrivals.values()].reduce((sum, { length }) => sum + length - 1, 0)
  return [
    ...[...FINAL].map((state) => ({
      name: `emails ${state}`,
      count: counts.get(state)?.length ?? 0,
      findings: (counts.get(state) ?? []).flatMap((row) => judgeState(witness, row)),
    })),
    {
      name: 'emails without an end',
      count: rows.filter(({ state }) => !FINAL.has(state)).length,
      findings: rows
        .filter(({ state }) => !FINAL.has(state))
        .map(({ id, state, recipient }) => ({ id, text: `${state}, to ${recipient}` })),
    },
    {
      name: 'messages that arrived again',
      count: repeated,
      note: 'each after a cut',
      findings: [
        ...[...witness.arrivals.values()].flatMap((each) => judgeRepetitions(history, each)),
        ...rows.flatMap((row) => judgeUncertainty(row, witness.arrivals.get(row.id) ?? [])),
      ],
    },
    {
      name: 'messages at receivers',
      count: history.arrivals.length,
      findings: judgeArrivals(history, rows),
    },
  ]
}

function gather(history: DeliveryHistory, rows: readonly EmailRow[], giveUpMs: number): Witness {
  const cancelledCampaigns = new Set(
    history.campaigns.filter(({ cancel }) => cancel !== undefined).map(({ id }) => id),
  )
  const bounced = new Set(
    history.reports.filter(({ kind }) => kind === 'bounce').map(({ emailId }) => emailId),
  )
  const reported = new Set(
    history.reports.filter(({ kind }) => kind !== 'reply').map(({ emailId }) => emailId),
  )
  return {
    arrivals: Map.groupBy(history.arrivals, ({ emailId }) => emailId),
    refused: new Set(history.refusals.map(({ emailId }) => emailId)),
    bounced,
    cancelled: new Set([
      ...history.cancellations.map(({ id }) => id),
      ...rows
        .filter(({ campaignId }) => cancelledCampaigns.has(campaignId ?? ''))
        .map(({ id }) => id),
    ]),
    withdrawn: new Set([
      ...history.refusals.map(({ to }) => to),
      ...history.unsubscriptions.map(({ email }) => email),
      ...rows.filter(({ id }) => reported.has(id)).map(({ recipient }) => recipient),
    ]),
    history,
    giveUpMs,
  }
}

function judgeState(witness: Witness, row: EmailRow): Finding[] {
  const arrivals = witness.arrivals.get(row.id) ?? []
  const answered = arrivals.filter(({ repliedAt }) => repliedAt !== null)
  const wrong = explain(witness, row, answered.length)
  const findings = wrong === undefined ? [] : [{ id: row.id, text: `${row.state}: ${wrong}` }]
  const mayHaveArrived = row.state === 'delivered' || witness.bounced.has(row.id)
  if (mayHaveArrived) return findings
  const isKnown = answered.length <= row.uncertainAttempts
  const unexcused = answered.filter(
    (arrival) => !isKnown || !isExcused(witness.history, arrival, row.updatedAt),
  )
  return [
    ...findings,
    ...unexcused.map(() => ({ id: row.id, text: `${row.state}, but a receiver has it` })),
  ]
}

/** What is wrong about the state; undefined if nothing is. */
function explain(witness: Witness, row: EmailRow, answered: number): string | undefined {
  const isAtNoDomain = row.recipient.endsWith(`@${NO_SUCH_DOMAIN}`)
  switch (row.state) {
    case 'delivered':
      return answered > 0 ? undefined : 'no receiver took it'
    case 'bounced':
      if (witness.refused.has(row.id) || witness.bounced.has(row.id) || isAtNoDomain) return
      return 'nobody refused it'
    case 'suppressed':
      if (witness.withdrawn.has(row.recipient) || isAtNoDomain) return
      return 'nothing speaks against its address'
    default:
      return explainFailure(witness, row)
  }
}

function explainFailure(
  { cancelled, withdrawn, giveUpMs }: Witness,
  { id, error, recipient, executionId, createdAt, updatedAt }: EmailRow,
): string | undefined {
  const text = error ?? ''
  if (text === 'cancelled') return cancelled.has(id) ? undefined : 'nobody cancelled it'
  if (text.includes('unsubscribed')) {
    return withdrawn.has(recipient) ? undefined : 'nobody unsubscribed'
  }
  const isLate = executionId !== null && updatedAt - createdAt >= giveUpMs
  return isLate ? undefined : `too early to be given up: ${text}`
}

function judgeRepetitions(history: DeliveryHistory, arrivals: readonly Arrival[]): Finding[] {
  const sorted = arrivals.toSorted((a, b) => a.at - b.at)
  return sorted
    .slice(0, -1)
    .filter((arrival, index) => !isExcused(history, arrival, sorted[index + 1]?.at ?? 0))
    .map(({ emailId, at, site }) => ({
      id: emailId,
      text: `arrived ${arrivals.length} times at ${site}; nothing was cut at ${new Date(at).toISOString()}`,
    }))
}

function judgeUncertainty(row: EmailRow, arrivals: readonly Arrival[]): Finding[] {
  const { id, uncertainAttempts } = row
  if (arrivals.length - 1 <= uncertainAttempts) return []
  const text = `arrived ${arrivals.length} times after ${uncertainAttempts} uncertain attempts`
  return [{ id, text }]
}

/** `until`: when the message was handed over again, or ended otherwise. */
function isExcused(
  { disruptions }: DeliveryHistory,
  { at, repliedAt, site }: Arrival,
  until: number,
): boolean {
  return repliedAt === null || isDisrupted(disruptions, { from: at, to: until, domain: site })
}

function judgeArrivals(
  { arrivals, erased }: DeliveryHistory,
  rows: readonly EmailRow[],
): Finding[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return arrivals.flatMap(({ emailId: id, to, number, site }) => {
    const row = byId.get(id)
    if (row === undefined) {
      return erased.has(to) ? [] : [{ id, text: `${site} got mail to ${to} that is not stored` }]
    }
    const isRight = row.recipient === to && (number === null || number === row.number)
    return isRight ? [] : [{ id, text: `it is for ${row.recipient}, but ${site} got it for ${to}` }]
  })
}
