/**
 * Yields the addresses of a list page by page; a resumed run continues after the last saved page.
 */
import { listOf, unindexed } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import { countContacts } from '../../contacts/list/count.ts'
import type { ContactScope } from '../../contacts/list/scope.ts'
import { walkContacts } from '../../contacts/list/walk.ts'
import type { ListPayload } from './start.ts'

export type ListedAddress = { text: string; contactId: string | null }

type ListPage = {
  addresses: ListedAddress[]
  /** Number of ids without a contact. */
  missing: number
  /** The position after the page: the number of its last contact, or the entries done so far. */
  end: number
}

/** The limits of a walk, so that the job ends in a project that keeps growing. */
export type ListRange = {
  startedAt: number
  /** The approximate number of addresses. */
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

export async function measureAddressList(deps: Deps, payload: ListPayload): Promise<ListRange> {
  const startedAt = deps.now()
  if (payload.mode === 'emails') return { startedAt, total: payload.emails.length, last: 0 }
  if (payload.mode === 'ids') return { startedAt, total: payload.contactIds.length, last: 0 }
  const row = await deps.store.read.find(selectLast, {})
  const total = await countContacts(deps, await toScope(deps, payload, startedAt))
  return { startedAt, total, last: row?.last ?? 0 }
}

/** Yields the pages after `after`, the `end` of a previous page. */
export async function* pagesOfList(
  deps: Deps,
  payload: ListPayload,
  { after, startedAt, last }: Pick<ListRange, 'startedAt' | 'last'> & { after: number },
): AsyncGenerator<ListPage> {
  if (payload.mode === 'query') {
    const scope = await toScope(deps, payload, startedAt)
    yield* pagesOfScope(deps, scope, { after, last, excluded: new Set(payload.excludeIds) })
    return
  }
  const entries = payload.mode === 'emails' ? payload.emails : payload.contactIds
  for (let at = after; at < entries.length; at += PAGE) {
    const some = entries.slice(at, at + PAGE)
    const found =
      payload.mode === 'emails'
        ? some.map((text) => ({ text, contactId: null }))
        : await findByIds(deps, payload.projectId, some)
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
