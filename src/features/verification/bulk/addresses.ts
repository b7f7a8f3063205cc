/** The addresses of a list, a page at a time, in an order that a run which takes over finds again. */
import { listOf, unindexed } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { compileCondition } from '../../conditions/compile.ts'
import { countContacts } from '../../contacts/list/count.ts'
import type { ContactScope } from '../../contacts/list/scope.ts'
import { walkContacts } from '../../contacts/list/walk.ts'
import type { ListPayload } from './start.ts'

export type ListedAddress = { text: string; contactId: string | null }

export type ListPage = {
  addresses: ListedAddress[]
  /** Ids of which there is no contact. */
  missing: number
  /** Where the page ends: the number of its last contact, or how many entries of the list are done. */
  end: number
}

/** What a walk is held to, so that a list in a busy project ends. */
export type ListRange = {
  startedAt: number
  /** How many addresses there are, about. */
  total: number
  /** The number of the newest contact. */
  last: number
}

type Deps = Pick<Base, 'store' | 'now'>

const PAGE = 200

const selectLast = statement<{ last: number | null }>(
  () => sql`select max(number) as last from contacts`,
)

/** Finds each contact by its id, not by the index of the project. */
const selectByIds = statement<{ id: string; address: string }>(
  () => sql`select id, email as address from contacts where ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    and id in ${listOf(parameter('ids'))}`,
)

export async function measureList(deps: Deps, order: ListPayload): Promise<ListRange> {
  const startedAt = deps.now()
  if (order.mode === 'emails') return { startedAt, total: order.emails.length, last: 0 }
  if (order.mode === 'ids') return { startedAt, total: order.contactIds.length, last: 0 }
  const row = await deps.store.read.find(selectLast, {})
  const total = await countContacts(deps, await toScope(deps, order, startedAt))
  return { startedAt, total, last: row?.last ?? 0 }
}

/** What lies behind `after`, the `end` of a page. */
export async function* pagesOfList(
  deps: Deps,
  order: ListPayload,
  { after, startedAt, last }: Pick<ListRange, 'startedAt' | 'last'> & { after: number },
): AsyncGenerator<ListPage> {
  if (order.mode === 'query') {
    const scope = await toScope(deps, order, startedAt)
    yield* pagesOfScope(deps, scope, { after, last, excluded: new Set(order.excludeIds) })
    return
  }
  const entries = order.mode === 'emails' ? order.emails : order.contactIds
  for (let at = after; at < entries.length; at += PAGE) {
    const some = entries.slice(at, at + PAGE)
    const found =
      order.mode === 'emails'
        ? some.map((text) => ({ text, contactId: null }))
        : await findByIds(deps, order.projectId, some)
    yield { addresses: found, missing: some.length - found.length, end: at + some.length }
  }
}

type Walk = { after: number; last: number; excluded: ReadonlySet<string> }

async function* pagesOfScope(
  deps: Deps,
  scope: ContactScope,
  { after, last, excluded }: Walk,
): AsyncGenerator<ListPage> {
  for await (const page of walkContacts(deps, scope, { after, size: PAGE })) {
    const end = page.at(-1)?.number ?? last
    const meant = page.filter(({ number, id }) => number <= last && !excluded.has(id))
    const addresses = meant.map(({ id, address }) => ({ text: address, contactId: id }))
    yield { addresses, missing: 0, end }
    if (end >= last) return
  }
}

async function findByIds(
  { store }: Deps,
  projectId: string,
  ids: readonly string[],
): Promise<ListedAddress[]> {
  const rows = await store.read.list(selectByIds, { projectId, ids: JSON.stringify(ids) })
  const addresses = new Map(rows.map(({ id, address }) => [id, address]))
  return ids.flatMap((id) => {
    const text = addresses.get(id)
    return text === undefined ? [] : [{ text, contactId: id }]
  })
}

async function toScope(
  { store }: Deps,
  { projectId, filter }: ListPayload & { mode: 'query' },
  startedAt: number,
): Promise<ContactScope> {
  const { condition, ...scope } = filter
  if (condition === undefined) return { projectId, ...scope }
  const deps = { store, now: () => startedAt }
  return { projectId, ...scope, condition: await compileCondition(deps, { projectId, condition }) }
}
