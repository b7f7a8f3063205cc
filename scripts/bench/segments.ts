/**
 * `npm run bench:segments`: counts conditions of every kind over a million contacts, lists pages of
 * their matches, and computes a tracked segment that 300,000 contacts enter and leave, while another
 * client sends 50 emails per second. Required: a count with data, an event window and email activity in
 * 1.5 s, pages in 50 ms, 300,000 changes in 15 s and 300 MB. `-- conditions` or `-- changes` runs one
 * part.
 */
import type { Api } from './api.ts'
import { measure, printRows, type Row } from './rows.ts'
import { type SeededServer, withSeededServer } from './seeded-server.ts'
import { segmentNames } from './seeding/segments.ts'
import { forgetPeak, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

type Page = { cursor?: string | null; total: number }
type Filter = { field: string; operator: string; value?: unknown; unit?: string }
type Computed = { added: number; removed: number; total: number }
type Change = {
  name: string
  computed: Computed
  ms: number
  baseMb: number
  peakMb: number
  sendsP99Ms: number
}

const COUNT_MS = 1_500
const PAGE_MS = 50

const isPro: Filter = { field: 'data.plan', operator: 'equals', value: 'pro' }
const isAdult: Filter = { field: 'data.age', operator: 'greaterThanOrEqual', value: 30 }
const hasViewed = within('event.page.viewed', 'triggeredWithin', 60)
const hasOpened = within('email.opened', 'triggeredWithin', 60)

const chosen = process.argv.slice(2).filter((name) => !name.startsWith('--'))
// Each part has its own server, because memory is measured.
if (isChosen('changes')) {
  await withSeededServer(async (seeded) =>
    printChanges(await computeChanges(seeded, seeded.api('big'))),
  )
}
if (isChosen('conditions')) {
  await withSeededServer(async (seeded) =>
    printRows('conditions', await measure(seeded, await conditionRows(seeded, seeded.api('big')))),
  )
}

function isChosen(table: string): boolean {
  return chosen.length === 0 || chosen.includes(table)
}

function within(field: string, operator: string, days: number): Filter {
  return { field, operator, value: days, unit: 'days' }
}

function all(...filters: Filter[]) {
  return { logic: 'AND', groups: [{ filters }] }
}

async function conditionRows({ query }: SeededServer, big: Api): Promise<Row[]> {
  const segment = (name: string): string =>
    query((database) =>
      database.prepare('select id from segments where name = ?').pluck().get(name),
    ) as string
  const inSegment = (name: string): Filter => ({
    field: `segment.${segment(name)}`,
    operator: 'memberOfSegment',
  })
  const conditions: [string, object][] = [
    ['data', all(isPro)],
    ['event window', all(hasViewed)],
    ['email activity', all(hasOpened)],
    ['data, event window and email activity', all(isAdult, hasViewed, hasOpened)],
    ['nested', nested()],
    ['rare event', all({ field: 'event.refund.requested', operator: 'triggered' })],
    ['never happened', all({ field: 'event.page.viewed', operator: 'notTriggered' })],
    ['not of late', all(within('event.page.viewed', 'notTriggeredWithin', 30))],
    ['only long ago', all(within('event.order.placed', 'triggeredOlderThan', 90))],
    ['part of a city', all({ field: 'data.city', operator: 'contains', value: 'burg' })],
    ['static segment', all(inSegment(segmentNames.static))],
    ['tracked segment', all(inSegment(segmentNames.tracked))],
    ['plain segment', all(inSegment(segmentNames.plain))],
  ]
  const rows: Row[] = []
  for (const [name, filter] of conditions) {
    const query = (more: object) =>
      big.call('POST', '/contacts/query', { filter, limit: 100, ...more })
    const { cursor, total } = (await query({})).body as Page
    rows.push({ name: `${name}: counted ${total}`, wantedMs: COUNT_MS, call: () => query({}) })
    if (typeof cursor !== 'string') continue
    rows.push({ name: `${name}: page`, wantedMs: PAGE_MS, call: () => query({ cursor }) })
  }
  const contacts = `/segments/${segment(segmentNames.static)}/contacts`
  return [
    ...rows,
    { name: 'members of static segment', wantedMs: PAGE_MS, call: () => big.call('GET', contacts) },
    {
      name: 'members of tracked segment',
      wantedMs: PAGE_MS,
      call: () => big.call('GET', `/segments/${segment(segmentNames.tracked)}/contacts`),
    },
    {
      name: 'members of plain segment',
      wantedMs: PAGE_MS,
      call: () => big.call('GET', `/segments/${segment(segmentNames.plain)}/contacts`),
    },
  ]
}

/** (pro, or viewed and opened recently) and not in Berlin, or asked for a refund. */
function nested(): object {
  const inside = {
    logic: 'OR',
    groups: [{ filters: [isPro] }, { filters: [hasViewed, hasOpened] }],
  }
  const notBerlin: Filter = { field: 'data.city', operator: 'notEquals', value: 'Berlin' }
  const refund: Filter = { field: 'event.refund.requested', operator: 'triggered' }
  return {
    logic: 'OR',
    groups: [{ filters: [notBerlin], conditions: inside }, { filters: [refund] }],
  }
}

/** About 300,000 contacts enter and then leave. */
async function computeChanges(seeded: SeededServer, big: Api): Promise<Change[]> {
  const condition = all({ field: 'data.age', operator: 'greaterThanOrEqual', value: 33 })
  const created = (await big.ask('POST', '/segments', {
    ...{ name: 'Over 33', type: 'DYNAMIC', trackMembership: true, condition },
  })) as { id: string }
  const compute = (name: string) => computeOnce(seeded, { big, id: created.id, name })
  const entered = await compute('all enter')
  const unchanged = await compute('nobody changes')
  const none = all({ field: 'data.age', operator: 'greaterThanOrEqual', value: 1_000 })
  await big.ask('PATCH', `/segments/${created.id}`, { condition: none })
  return [entered, unchanged, await compute('all leave')]
}

async function computeOnce(
  { server, besideSends }: SeededServer,
  { big, id, name }: { big: Api; id: string; name: string },
): Promise<Change> {
  process.stderr.write(`${name}\n`)
  forgetPeak(server.pid)
  const baseMb = residentMegabytes(server.pid).now
  const { result, sends } = await besideSends(() => big.call('POST', `/segments/${id}/compute`))
  const { status, body, ms } = result
  if (status >= 400) throw new Error(`compute: ${status} ${JSON.stringify(body)}`)
  const peakMb = residentMegabytes(server.pid).peak
  return { name, computed: body as Computed, ms, baseMb, peakMb, sendsP99Ms: sends.p99Ms }
}

function printChanges(changes: readonly Change[]): void {
  printTable([
    [
      'tracked segment',
      'added',
      'removed',
      'seconds',
      'wanted',
      'peak MB',
      'wanted',
      'sends p99 ms',
    ],
    ...changes.map(({ name, computed: { added, removed }, ms, baseMb, peakMb, sendsP99Ms }) => [
      ...[name, String(added), String(removed), show(ms / 1_000, 1), '< 15'],
      ...[show(baseMb), show(peakMb), '< 300'],
      show(sendsP99Ms, 1),
    ]),
  ])
}
