/**
 * `npm run bench:contacts`: calls the contacts API over HTTP, one call after another, with a million
 * contacts in the database, while another client sends 50 emails per second. Each row shows the time
 * allowed; the sends may take 100 ms. Times are measured at the client.
 */
import type { Api } from './api.ts'
import { printPlans } from './plans.ts'
import { measure, printRows, type Row } from './rows.ts'
import { type SeededServer, withSeededServer } from './seeded-server.ts'

/** A contact of the big project. */
type Known = { id: string; email: string }
type Page = { data: { id: string }[]; cursor?: string | null; total: number }

const PAGE_MS = 30
const SEARCH_MS = 50
const TOTAL_MS = 500
const FIELDS_MS = 50
const VALUES_MS = 2_000
const COUNT_MS = 1_500
const LOOKUP = 500

const chosen = process.argv.slice(2).filter((name) => !name.startsWith('--'))
await withSeededServer(async (seeded) => {
  const big = seeded.api('big')
  const known = listKnown(seeded)
  const tables: [string, () => Row[] | Promise<Row[]>][] = [
    ['lists', () => listRows(big, known)],
    ['search', () => searchRows(seeded)],
    ['fields', () => fieldRows(big)],
    ['filter', () => filterRows(big)],
    ['one contact', () => contactRows(big, known)],
  ]
  for (const [name, rows] of tables) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    printRows(name, await measure(seeded, await rows()))
    if (name === 'lists') printPlans(seeded)
  }
})

/** A sample of the big project, in the order of creation. */
function listKnown({ query }: SeededServer): Known[] {
  return query((database) =>
    database
      .prepare(
        `select id, email from contacts where number % 97 = 1
          and project_id = (select id from projects where name = 'big') order by number`,
      )
      .all(),
  ) as Known[]
}

function listRows(big: Api, known: readonly Known[]): Row[] {
  const list = (query: string) => big.call('GET', `/contacts?limit=100${query}`)
  /** A bare id is a valid cursor. */
  const cursor = (index: number) => `&cursor=${at(known, index * 7_919).id}`
  return [
    { name: 'first page of 100', wantedMs: PAGE_MS, call: () => list('') },
    { name: 'deep page', wantedMs: PAGE_MS, call: (index) => list(cursor(index)) },
    { name: 'oldest first', wantedMs: PAGE_MS, call: () => list('&dir=asc') },
    { name: 'subscribed', wantedMs: PAGE_MS, call: () => list('&subscribed=true') },
    { name: 'unsubscribed', wantedMs: PAGE_MS, call: () => list('&subscribed=false') },
    {
      name: 'unsubscribed, deep page',
      wantedMs: PAGE_MS,
      call: (index) => list(`&subscribed=false${cursor(index)}`),
    },
    { name: 'by address', wantedMs: PAGE_MS, call: () => list('&sort=email&dir=asc') },
    {
      name: 'by address, deep page',
      wantedMs: PAGE_MS,
      call: (index) => list(`&sort=email&dir=asc${cursor(index)}`),
    },
    {
      name: 'by address, unsubscribed',
      wantedMs: PAGE_MS,
      call: () => list('&sort=email&dir=asc&subscribed=false'),
    },
  ]
}

function contactRows(big: Api, known: readonly Known[]): Row[] {
  const contact = (index: number) => at(known, index * 7_919)
  const emails = (index: number) => [
    ...Array.from({ length: LOOKUP - 50 }, (_, each) => contact(index * LOOKUP + each).email),
    ...Array.from({ length: 50 }, (_, each) => `nobody${index}-${each}@example.org`),
  ]
  const upsert = (body: object) => big.call('POST', '/contacts', body)
  return [
    { name: 'get', wantedMs: PAGE_MS, call: (index) => big.call('GET', idPath(contact(index))) },
    {
      name: `lookup of ${LOOKUP}`,
      wantedMs: PAGE_MS,
      call: (index) => big.call('POST', '/contacts/lookup', { emails: emails(index) }),
    },
    {
      name: 'upsert, new',
      wantedMs: PAGE_MS,
      call: (index) => upsert({ email: `newcomer${index}@example.org` }),
    },
    {
      name: 'upsert, new with data',
      wantedMs: PAGE_MS,
      call: (index) => upsert({ email: `comer${index}@example.org`, data: newData(index) }),
    },
    {
      name: 'upsert, known and as it was',
      wantedMs: PAGE_MS,
      call: (index) => upsert({ email: contact(index).email }),
    },
    {
      name: 'upsert, known with other data',
      wantedMs: PAGE_MS,
      call: (index) => upsert({ email: contact(index).email, data: newData(index) }),
    },
    {
      name: 'patch of data',
      wantedMs: PAGE_MS,
      call: (index) => big.call('PATCH', idPath(contact(index)), { data: newData(index + 1) }),
    },
    {
      name: 'patch of subscribed',
      wantedMs: PAGE_MS,
      call: (index) => big.call('PATCH', idPath(contact(index)), { subscribed: index % 2 === 0 }),
    },
    {
      name: 'delete',
      wantedMs: null,
      call: (index) => big.call('DELETE', idPath(at(known, index))),
    },
  ]
}

function newData(index: number): object {
  return { plan: 'free', age: 20 + (index % 50), city: 'Berlin', vip: index % 2 === 0 }
}

/** Only first pages contain `total`. */
async function searchRows({ api }: SeededServer): Promise<Row[]> {
  const [big, small, middle] = [api('big'), api('small'), api('first')]
  const list = (of: Api, query: string) => of.call('GET', `/contacts?limit=100&search=${query}`)
  const searches: [string, Api, string][] = [
    ['common part (gmail.com)', big, 'gmail.com'],
    ['some thousands (keller)', big, 'keller'],
    ['rare part (123456)', big, '123456'],
    ['no match', big, 'zzqxyj'],
    ['two characters (an)', big, 'an'],
    ['two characters, no match', big, 'zq'],
    ['200 contacts, common', small, 'gmail.com'],
    ['200 contacts, no match', small, 'zzqxyj'],
    ['200 contacts, two characters', small, 'an'],
    ['20,000 contacts, common', middle, 'gmail.com'],
    ['20,000 contacts, no match', middle, 'zzqxyj'],
  ]
  const rows: Row[] = []
  for (const [name, of, part] of searches) {
    const { body } = await list(of, part)
    const { cursor, total } = body as Page
    const first = `${name}: first page and total ${total}`
    rows.push({ name: first, wantedMs: TOTAL_MS, call: () => list(of, part) })
    if (typeof cursor !== 'string') continue
    const next = `${part}&cursor=${encodeURIComponent(cursor)}`
    rows.push({ name: `${name}: next page`, wantedMs: SEARCH_MS, call: () => list(of, next) })
  }
  rows.push({
    name: 'unsubscribed and rare: first page and total',
    wantedMs: TOTAL_MS,
    call: () => list(big, '123456&subscribed=false'),
  })
  rows.push({
    name: 'by address, rare: first page and total',
    wantedMs: TOTAL_MS,
    call: () => list(big, '123456&sort=email&dir=asc'),
  })
  return rows
}

function fieldRows(big: Api): Row[] {
  const names = ['plan', 'city', 'name', 'age', 'signedUp', 'vip', 'none']
  const values = ['subscribed', 'createdAt', ...names.map((name) => `data.${name}`)]
  return [
    {
      name: 'fields with coverage',
      wantedMs: FIELDS_MS,
      call: () => big.call('GET', '/contacts/fields'),
    },
    {
      name: 'usage of data.plan',
      wantedMs: null,
      call: () => big.call('GET', '/contacts/fields/data.plan/usage'),
    },
    ...values.map((field) => ({
      name: `values of ${field}`,
      wantedMs: VALUES_MS,
      call: () => big.call('GET', `/contacts/fields/${field}/values?limit=200`),
    })),
  ]
}

async function filterRows(big: Api): Promise<Row[]> {
  const filters: [string, object[]][] = [
    ['plan = pro', [{ field: 'data.plan', operator: 'equals', value: 'pro' }]],
    [
      'plan, age and subscribed',
      [
        { field: 'data.plan', operator: 'equals', value: 'starter' },
        { field: 'data.age', operator: 'greaterThan', value: 40 },
        { field: 'subscribed', operator: 'equals', value: true },
      ],
    ],
  ]
  const rows: Row[] = []
  for (const [name, group] of filters) {
    const filter = { logic: 'AND', groups: [{ filters: group }] }
    const query = (more: object) =>
      big.call('POST', '/contacts/query', { filter, limit: 100, ...more })
    const { cursor, total } = (await query({})).body as Page
    const first = `${name}: first page and total ${total}`
    rows.push({ name: first, wantedMs: COUNT_MS, call: () => query({}) })
    rows.push({ name: `${name}: next page`, wantedMs: SEARCH_MS, call: () => query({ cursor }) })
  }
  return rows
}

function idPath({ id }: Known): string {
  return `/contacts/${id}`
}

function at<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T
}
