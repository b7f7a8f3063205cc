/**
 * Records hits (opens and clicks) in an email's row: the counters, the time of the first open and click,
 * and an event for each hit of a person. Hits of machines (`machine-detection.ts`) are counted
 * separately and have no other effect.
 *
 * | status            | after an open | after a click |
 * |-------------------|---------------|---------------|
 * | SENT, DELIVERED   | OPENED        | CLICKED       |
 * | OPENED            | OPENED        | CLICKED       |
 * | any other         | no change     | no change     |
 *
 * A click does not count as an open.
 *
 * The reader of a workflow's email to another address is not the contact: these events name the email, and
 * no contact.
 */
import { formatInstant } from '../../../base/clock.ts'
import type { RowOf } from '../../../store/database.ts'
import { eachOf, jsonItem, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { wentToOther } from '../../../store/email-terms.ts'
import { emails } from '../../../store/schema/messages.ts'
import type { EmailStatus } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { appendEvents, type NewEvent } from '../../ground/events/append.ts'
import { findBursts, isInstant } from './machine-detection.ts'

export type Hit = {
  emailId: string
  /** Epoch milliseconds. */
  at: number
  /**
   * Whether the request itself shows a machine. If not, the times of the hits may still reveal one.
   */
  isMachine: boolean
} & ({ type: 'open' } | { type: 'click'; link: string })

const listHitEmails = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      contactId: emails.contactId,
      state: emails.state,
      status: emails.status,
      sentAt: emails.sentAt,
      deliveredAt: emails.deliveredAt,
      openedAt: emails.openedAt,
      clickedAt: emails.clickedAt,
      opens: emails.opens,
      clicks: emails.clicks,
      machineOpens: emails.machineOpens,
      machineClicks: emails.machineClicks,
      isToOther: sql<boolean>`${wentToOther}`.mapWith(Boolean),
    })
    .from(emails)
    .where(sql`id in ${listOf(parameter('ids'))}`),
)

const item = (index: number) => jsonItem(sql`row.value`, index)

/** `rows`: lists as `personRow` makes them. */
export const countOfPersons = statement(
  () => sql`update emails set status = ${item(1)}, opened_at = ${item(2)}, clicked_at = ${item(3)},
      opens = ${item(4)}, clicks = ${item(5)}, updated_at = ${parameter('at')}
    from ${eachOf(parameter('rows'))} as row where emails.id = ${item(0)}`,
)

/**
 * Sets the counts of hits by machines. A trigger on these columns keeps the figures of campaigns.
 */
export const countOfMachines = statement(
  () => sql`update emails set machine_opens = ${item(1)}, machine_clicks = ${item(2)},
      updated_at = ${parameter('at')}
    from ${eachOf(parameter('rows'))} as row where emails.id = ${item(0)}`,
)

type HitEmail = RowOf<typeof listHitEmails>

const NEXT_STATUS: Record<Hit['type'], Partial<Record<EmailStatus, EmailStatus>>> = {
  open: { SENT: 'OPENED', DELIVERED: 'OPENED' },
  click: { SENT: 'CLICKED', DELIVERED: 'CLICKED', OPENED: 'CLICKED' },
}

/**
 * Records hits of any number of emails. The hits of one email should come together, because only
 * together can they reveal a machine. Hits of deleted emails are ignored.
 */
export async function recordHits(
  deps: Pick<Base, 'config' | 'now'>,
  tx: Tx,
  hits: readonly Hit[],
): Promise<void> {
  const groups = Map.groupBy(hits, ({ emailId }) => emailId)
  const rows = await tx.list(listHitEmails, { ids: JSON.stringify([...groups.keys()]) })
  const at = deps.now()
  const events: NewEvent[] = []
  const persons: unknown[] = []
  const machines: unknown[] = []
  for (const email of rows) {
    const group = (groups.get(email.id) ?? []).toSorted((a, b) => a.at - b.at)
    const made = countHits(deps, email, group)
    events.push(...made)
    if (made.length > 0) persons.push(personRow(email))
    if (made.length < group.length) machines.push(machineRow(email))
  }
  if (persons.length > 0) await tx.execute(countOfPersons, { rows: JSON.stringify(persons), at })
  if (machines.length > 0) await tx.execute(countOfMachines, { rows: JSON.stringify(machines), at })
  await appendEvents(tx, events)
}

function personRow({ id, status, openedAt, clickedAt, opens, clicks }: HitEmail) {
  return [id, status, openedAt, clickedAt, opens, clicks]
}

function machineRow({ id, machineOpens, machineClicks }: HitEmail) {
  return [id, machineOpens, machineClicks]
}

/** Adds the hits to `email` and returns the events of the hits. */
function countHits(deps: Pick<Base, 'config'>, email: HitEmail, hits: readonly Hit[]): NewEvent[] {
  const bursts = findBursts(hits)
  return hits.flatMap((hit, index) => {
    const isMachine = hit.isMachine || bursts[index] === true || isTooSoon(deps, email, hit)
    if (isMachine) countMachine(email, hit)
    return isMachine ? [] : countPerson(email, hit)
  })
}

/** Always false in the sandbox, which has no scanners: developers' tests follow links at once. */
function isTooSoon({ config }: Pick<Base, 'config'>, email: HitEmail, { at }: Hit): boolean {
  if (config.delivery.mode === 'sandbox') return false
  const arrivedAt = email.deliveredAt ?? email.sentAt
  return arrivedAt === null ? email.state === 'sending' : isInstant(at, arrivedAt)
}

function countMachine(email: HitEmail, { type }: Hit): void {
  if (type === 'open') email.machineOpens += 1
  else email.machineClicks += 1
}

function countPerson(email: HitEmail, hit: Hit): NewEvent[] {
  const { projectId, isToOther, id: emailId } = email
  const contactId = isToOther ? null : email.contactId
  const event = { projectId, contactId, emailId, at: hit.at }
  email.status = NEXT_STATUS[hit.type][email.status] ?? email.status
  return hit.type === 'open'
    ? [{ ...event, name: 'email.open', data: countOpen(email, hit.at) }]
    : [{ ...event, name: 'email.click', data: { link: hit.link, ...countClick(email, hit.at) } }]
}

function countOpen(email: HitEmail, at: number) {
  email.openedAt ??= at
  email.opens += 1
  const { openedAt, opens } = email
  return { openedAt: formatInstant(openedAt), opens, isFirstOpen: opens === 1 }
}

function countClick(email: HitEmail, at: number) {
  email.clickedAt ??= at
  email.clicks += 1
  const { clickedAt, clicks } = email
  return { clickedAt: formatInstant(clickedAt), clicks, isFirstClick: clicks === 1 }
}
