/**
 * The seeded events: actions of contacts during the last year, most of them by few contacts, and events
 * of the newest emails. `seq` follows the order of time.
 */
import type Database from 'better-sqlite3'
import { DAY_MS } from '../../../src/base/clock.ts'
import type { SeededContacts } from './contacts.ts'
import { pickContact, type Trace } from './emails.ts'
import { insertRows, loadTables } from './loading.ts'
import { type Plan, projectOfContact } from './plan.ts'
import type { Progress } from './progress.ts'
import type { ProjectIds } from './projects.ts'
import { createChoice, createIds, createRandom, type Random } from './random.ts'

/** Mean number of events of a delivered email: sent, delivery, open, click. */
export const EVENTS_OF_AN_EMAIL = 2.4

type Deps = {
  projects: ProjectIds
  contacts: SeededContacts
  traces: readonly Trace[]
  progress: Progress
}

type Happening = { contact: number; emailId: string | null; name: string; data: string | null }

const YEAR_MS = 365 * DAY_MS
/** Sort keys hold the instant in 30 bits and the index of its row in 23 bits. */
const TICK_MS = 32
const ROWS = 2 ** 23
const HEAVY_SHARE = 0.7
const columns = ['id', 'project_id', 'name', 'contact_id', 'email_id', 'data', 'created_at']

export function fillEvents(database: Database.Database, plan: Plan, deps: Deps): void {
  const { projects, contacts, traces, progress } = deps
  progress.step('events in order')
  const random = createRandom(3_003)
  const eventId = createIds(random)
  const emailEvents = listEmailEvents(traces)
  const tracked = createTracked(random, plan)
  const beganAt = plan.at - YEAR_MS
  const order = new Float64Array(plan.events)
  for (let row = 0; row < plan.events; row += 1) {
    const at = emailEvents.at[row] ?? beganAt + YEAR_MS * random() ** 0.8
    order[row] = Math.floor((at - beganAt) / TICK_MS) * ROWS + row
  }
  order.sort()
  const into = { table: 'events', columns, count: plan.events, progress }
  const fill = () =>
    insertRows(database, into, (position) => {
      const key = order[position] as number
      const at = beganAt + Math.floor(key / ROWS) * TICK_MS
      const event = emailEvents.find(key % ROWS) ?? tracked(at)
      const project = projects[projectOfContact(event.contact)]
      const contact = contacts.ids[event.contact]
      return [eventId(at), project, event.name, contact, event.emailId, event.data, at]
    })
  loadTables(database, ['events'], { fill, progress })
}

const sides = [
  ['email.sent', 'sentAt', () => null],
  ['email.delivery', 'sentAt', () => null],
  ['email.bounce', 'bouncedAt', () => ({ bounceType: 'Permanent' })],
  ['email.complaint', 'complainedAt', () => null],
  ['email.open', 'openedAt', (openedAt) => ({ openedAt, opens: 1, isFirstOpen: true })],
  [
    'email.click',
    'clickedAt',
    (clickedAt) => ({
      link: 'https://big.example.test/',
      ...{ clickedAt, clicks: 1, isFirstClick: true },
    }),
  ],
] as const satisfies [string, keyof Trace, (at: string) => object | null][]

/** The events of emails: the instant, the kind and the trace of each. */
function listEmailEvents(traces: readonly Trace[]) {
  const at: number[] = []
  const side: number[] = []
  const trace: number[] = []
  for (const [index, each] of traces.entries()) {
    for (const [number, [, field]] of sides.entries()) {
      const instant = each[field]
      if (instant === null) continue
      at.push(instant)
      side.push(number)
      trace.push(index)
    }
  }
  const find = (row: number): Happening | undefined => {
    const found = traces[trace[row] ?? -1]
    const [name, , describe] = sides[side[row] ?? -1] ?? []
    if (found === undefined || name === undefined || describe === undefined) return undefined
    const data = describe(new Date(at[row] as number).toISOString())
    const { contact, emailId } = found
    return { contact, emailId, name, data: data === null ? null : JSON.stringify(data) }
  }
  return { at, find }
}

/** Events that contacts cause. */
function createTracked(random: Random, plan: Plan): (at: number) => Happening {
  const name = createChoice(random, [
    ['page.viewed', 55],
    ['product.viewed', 22],
    ['cart.updated', 11],
    ['order.placed', 6],
    ['signup.completed', 3.5],
    ['trial.started', 1.6],
    ['support.opened', 0.88],
    ['refund.requested', 0.02],
  ])
  return (at) => ({
    contact: pickContact(random, plan, { at, heavyShare: HEAVY_SHARE }),
    emailId: null,
    name: name(),
    data: random() < 0.3 ? null : `{"path":"/page/${Math.floor(500 * random() ** 2)}"}`,
  })
}
